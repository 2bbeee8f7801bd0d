/** How views are written to the index: rows, open reviews, totals and positions. */
import {
  createPositionChanges,
  createTotalsChanges,
  type Columns,
  type Contribution,
  type PositionPart,
  type ViewEnvelope,
  type ViewKind,
} from '@tollgate/views';
import type { InquiryNeed } from '@tollgate/payment-domain';
import type { DueAt } from './index-inquiries.ts';
import type { IndexScope } from './index-schema.ts';
import { writeMetadata } from './index-metadata.ts';
import { toView, type Statements } from './index-rows.ts';
import { applyToPositions } from './index-positions.ts';
import { applyToTotals } from './index-totals.ts';
import { createWorkloadChanges } from './index-workload.ts';

/** A view and what it is. */
export interface IndexedView {
  kind: ViewKind;
  view: ViewEnvelope;
}

interface Writing {
  dueAt: DueAt;
  scope: IndexScope;
}

/** To be called in a transaction. */
export function writeViews(statements: Statements, views: readonly IndexedView[], writing: Writing): void {
  const totals = createTotalsChanges();
  const positions = createPositionChanges();
  const workload = createWorkloadChanges();
  for (const { kind, view } of views) {
    const written = writeView(statements, { kind, view }, writing);
    if (written !== undefined) workload.move(kind.name, written.needs);
    const after = kind.contributionOf?.(view);
    if (written !== undefined && after !== undefined) totals.replace(written.counted, after);
    if (written !== undefined) positions.replace(written.position, kind.positionOf?.(view));
  }
  applyToTotals(statements, totals.list());
  applyToPositions(statements, positions.list());
  workload.applyTo(statements);
}

interface Written {
  /** What the previous row contributed to the totals; undefined if there was none. */
  counted: Contribution | undefined;
  /** What it added to the position of its team. */
  position: PositionPart | undefined;
  /** Why it was inquired, and is now; undefined for what is not inquired, and for a row that was not there. */
  needs: { before: InquiryNeed | undefined; after: InquiryNeed | undefined };
}

/** Writes a view's row and its open reviews; undefined if the row is of a newer view. */
function writeView(
  statements: Statements,
  { kind, view }: IndexedView,
  writing: Writing,
): Written | undefined {
  const written = writeRow(statements, { kind, view }, writing);
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
function writeRow(
  statements: Statements,
  { kind, view }: IndexedView,
  { dueAt, scope }: Writing,
): Written | undefined {
  const { name, fixedColumns, changingColumns, inquiryNeedOf } = kind.table;
  const { token, createdAt } = view;
  const inquiryNeed = inquiryNeedOf?.(view);
  const changing = { ...changingColumns(view), ...dueColumns(view, inquiryNeed, dueAt) };
  const names = Object.keys(changing).join(', ');
  const before = statements(`SELECT revision, view, ${names} FROM ${name} WHERE token = ?`).get(token);
  if (before === undefined) {
    const row = { token, ...fixedColumns(view), created_at: createdAt, ...changing };
    insert(statements, name, { ...row, ...envelopeColumnsOf(view) });
    if (scope === 'lists') writeMetadata(statements, kind, view);
    return { counted: undefined, position: undefined, needs: { before: undefined, after: inquiryNeed } };
  }
  if (view.revision < Number(before['revision'])) return undefined;
  const changed = Object.entries(changing).filter(([column, value]) => before[column] !== value);
  const columns = { ...Object.fromEntries(changed), ...envelopeColumnsOf(view) };
  const changes = Object.keys(columns).map((column) => `${column} = :${column}`);
  statements(`UPDATE ${name} SET ${changes.join(', ')} WHERE token = :token`).run({ ...columns, token });
  const needBefore = before['inquiry_need'] as InquiryNeed | undefined;
  const viewBefore = toView(kind, before);
  return {
    counted: kind.contributionOf?.(viewBefore),
    position: kind.positionOf?.(viewBefore),
    needs: { before: needBefore, after: inquiryNeed },
  };
}

function dueColumns(
  { token, updatedAt }: ViewEnvelope,
  inquiryNeed: InquiryNeed | undefined,
  dueAt: DueAt,
): Columns {
  if (inquiryNeed === undefined) return {};
  const due = dueAt({ token, inquiryNeed, updatedAt });
  return {
    inquiry_need: inquiryNeed,
    // Beside it, because statements bind that one: see the note on partial indexes.
    is_unresolved: inquiryNeed === 'unresolved' ? 1 : 0,
    due_at: due === undefined ? null : Math.ceil(due),
  };
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
