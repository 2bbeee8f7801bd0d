/** How views are written to the index: rows, open reviews and totals. */
import {
  createTotalsChanges,
  type Columns,
  type Contribution,
  type ViewEnvelope,
  type ViewKind,
} from '@tollgate/views';
import { toView, type Statements } from './index-rows.ts';
import { applyToTotals } from './index-totals.ts';

/** A view and what it is. */
export interface IndexedView {
  kind: ViewKind;
  view: ViewEnvelope;
}

/** To be called in a transaction. */
export function writeViews(statements: Statements, views: readonly IndexedView[]): void {
  const totals = createTotalsChanges();
  for (const { kind, view } of views) {
    const written = writeView(statements, kind, view);
    const after = kind.contributionOf?.(view);
    if (written !== undefined && after !== undefined) totals.replace(written.counted, after);
  }
  applyToTotals(statements, totals.list());
}

interface Written {
  /** What the previous row contributed to the totals; undefined if there was none. */
  counted: Contribution | undefined;
}

/** Writes a view's row and its open reviews; undefined if the row is of a newer view. */
function writeView(statements: Statements, kind: ViewKind, view: ViewEnvelope): Written | undefined {
  const written = writeRow(statements, kind, view);
  if (written === undefined) return undefined;
  const { token } = view;
  statements('DELETE FROM reviews WHERE token = ?').run(token);
  const { environment, team } = kind.ownerOf(view);
  if (team === undefined) return written;
  const raise = statements(
    'INSERT INTO reviews (environment, team, since, token, number, kind) VALUES (?, ?, ?, ?, ?, ?)',
  );
  for (const [number, since] of kind.reviewsSinceOf(view).entries())
    raise.run(environment, team, since, token, number, kind.name);
  return written;
}

/** Of a row that is there only what changes is set: an index of columns that are not set is not written. */
function writeRow(statements: Statements, kind: ViewKind, view: ViewEnvelope): Written | undefined {
  const { name, fixedColumns, changingColumns } = kind.table;
  const { token, createdAt } = view;
  const changing = changingColumns(view);
  const names = Object.keys(changing).join(', ');
  const before = statements(`SELECT revision, view, ${names} FROM ${name} WHERE token = ?`).get(token);
  if (before === undefined) {
    const row = { token, ...fixedColumns(view), created_at: createdAt, ...changing };
    insert(statements, name, { ...row, ...envelopeColumnsOf(view) });
    return { counted: undefined };
  }
  if (view.revision < Number(before['revision'])) return undefined;
  const changed = Object.entries(changing).filter(([column, value]) => before[column] !== value);
  const columns = { ...Object.fromEntries(changed), ...envelopeColumnsOf(view) };
  const changes = Object.keys(columns).map((column) => `${column} = :${column}`);
  statements(`UPDATE ${name} SET ${changes.join(', ')} WHERE token = :token`).run({ ...columns, token });
  return { counted: kind.contributionOf?.(toView(kind, before)) };
}

function insert(statements: Statements, table: string, row: Columns): void {
  const columns = Object.keys(row);
  const values = columns.map((column) => `:${column}`);
  statements(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values.join(', ')})`).run(row);
}

const envelopeColumnsOf = (view: ViewEnvelope): Columns => ({
  updated_at: view.updatedAt,
  revision: view.revision,
  view: JSON.stringify(view),
});
