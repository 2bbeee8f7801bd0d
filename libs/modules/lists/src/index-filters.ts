/**
 * Plans a filtered list as walks, each through one index in the order of the answer. SQLite has no statistics here, so the
 * query names the index, and SQLite rejects it if that index does not apply.
 */
import type { ListQuery, Place } from './list-page.ts';
import { createHash } from 'node:crypto';
import type { ViewEnvelope, ViewKind } from '@tollgate/views';
import type { Statements } from './index-rows.ts';

/** SQL for an order number without what people leave out or add when they type it: case, `#` and spaces. */
export const orderKey = (sql: string): string => `lower(replace(replace(${sql}, '#', ''), ' ', ''))`;

export interface ListedTable {
  name: string;
  table: { name: string; phasesOf?(status: string): readonly string[] };
  /** How it is read, if it lacks the columns of the others. */
  walks?: (query: ListQuery, after: Place | undefined) => Walk[];
}

/** A part of an answer; its rows have `kind`, `created_at` and `token`. */
export interface Walk {
  sql: string;
  values: (string | number)[];
  /** Its rows also have `fits`, which is 1 if they match. A bounded number of rows is visited at once. */
  isFiltered?: boolean;
}

/** The walks that together return a query's rows of one table after a place, in order. None if no row can match. */
export function walksOf({ name, table, walks }: ListedTable, query: ListQuery, after?: Place): Walk[] {
  if (walks !== undefined) return walks(query, after);
  const phases = phasesIn(table, query);
  if (phases?.length === 0) return [];
  const inPhases: Term[] =
    phases === undefined ? [] : [[`phase IN (${phases.map(() => '?').join(', ')})`, ...phases]];
  const [first, ...further] = query.metadata ?? [];
  if (first !== undefined)
    return [walkOfMetadata({ name, table: table.name }, query, { first, further, inPhases, after })];
  const { index, isLedByPhase } = leadOf(query);
  const head = `SELECT '${name}' AS kind, created_at, token FROM ${table.name} INDEXED BY ${table.name}_${index}`;
  const others = [...ownerTerms(query), ...filterTerms(query), ...ageTerms(query, after)];
  if (isLedByPhase && phases !== undefined)
    return phases.map((phase) => walkOf(head, [...others, ['phase = ?', phase]]));
  return [walkOf(head, [...others, ...inPhases])];
}

type Noted = readonly [name: string, text: string];

/** Led by the rows of the first pair, in the order of the answer; the other filters are checked for each. */
function walkOfMetadata(
  { name, table }: { name: string; table: string },
  query: ListQuery,
  given: { first: Noted; further: readonly Noted[]; inPhases: Term[]; after: Place | undefined },
): Walk {
  const { environment, team } = query;
  const isNoted = (pair: Noted): Term => [
    `EXISTS (SELECT 1 FROM ${table}_metadata AS other WHERE other.of_environment = ? AND other.of_team = ?
      AND other.hash = ? AND other.made_at = noted.made_at AND other.of_token = noted.of_token)`,
    ...[environment, team, metadataHash(...pair)],
  ];
  const filters = [...given.further.map(isNoted), ...filterTerms(query), ...given.inPhases];
  const fits = filters.length === 0 ? '' : `, ${filters.map(([sql]) => sql).join(' AND ')} AS fits`;
  const { sql, values } = walkOf(
    `SELECT '${name}' AS kind, made_at AS created_at, of_token AS token${fits}
      FROM ${table}_metadata AS noted CROSS JOIN ${table} ON ${table}.token = noted.of_token`,
    [
      ['noted.of_environment = ?', environment],
      ['noted.of_team = ?', team],
      ['noted.hash = ?', metadataHash(...given.first)],
      ...ageTerms(query, given.after, { at: 'noted.made_at', key: 'noted.of_token' }),
    ],
  );
  return { sql, values: [...filters.flatMap(([, ...each]) => each), ...values], isFiltered: fits !== '' };
}

/** Undefined for all of them. */
function phasesIn(
  { phasesOf }: ListedTable['table'],
  { status, phase }: ListQuery,
): readonly string[] | undefined {
  const ofStatus = status === undefined ? undefined : (phasesOf?.(status) ?? []);
  if (phase === undefined) return ofStatus;
  return ofStatus === undefined || ofStatus.includes(phase) ? [phase] : [];
}

/** Chooses the leading index. */
function leadOf(query: ListQuery) {
  const { paymentToken, orderNumber, needsReview, unresolved, refundOpen, status, phase, currency } = query;
  if (paymentToken !== undefined) return { index: 'by_payment', isLedByPhase: false };
  if (orderNumber !== undefined) return { index: 'by_order_number', isLedByPhase: false };
  if (needsReview === true) return { index: 'needing_review', isLedByPhase: false };
  if (unresolved === true) return { index: 'unresolved', isLedByPhase: false };
  if (refundOpen === true) return { index: 'refund_open', isLedByPhase: false };
  const isLedByPhase = status !== undefined || phase !== undefined;
  if (isLedByPhase)
    return { index: currency === undefined ? 'by_phase' : 'by_phase_and_currency', isLedByPhase };
  return { index: currency === undefined ? 'by_age' : 'by_currency', isLedByPhase };
}

export const walkOf = (head: string, terms: readonly Term[]): Walk => ({
  sql: `${head} WHERE ${terms.map(([sql]) => sql).join(' AND ')}`,
  values: terms.flatMap(([, ...values]) => values),
});

export type Term = [sql: string, ...values: (string | number)[]];

const ownerTerms = ({ environment, team }: ListQuery): Term[] => [
  ['environment = ?', environment],
  ['team = ?', team],
];

function filterTerms(query: ListQuery): Term[] {
  const { paymentToken, orderNumber, currency, needsReview, unresolved, refundOpen } = query;
  const terms: Term[] = [];
  if (paymentToken !== undefined) terms.push(['payment_token = ?', paymentToken]);
  // The index leads by the key; numbers that differ only in case, `#` or spaces are left out after that.
  if (orderNumber !== undefined)
    terms.push(
      [`${orderKey('order_number')} = ${orderKey('?')}`, orderNumber],
      ['order_number = ?', orderNumber],
    );
  if (currency !== undefined) terms.push(['currency = ?', currency]);
  // A literal, because the partial index of open work is used only if the text contains it.
  if (needsReview !== undefined) terms.push([`needs_review = ${needsReview ? 1 : 0}`]);
  if (unresolved === true) terms.push(['is_unresolved = 1']);
  if (refundOpen === true) terms.push(['refund_open = 1']);
  return terms;
}

/** One bound per side: of two, SQLite would seek by one and scan all rows that the other excludes. */
export function ageTerms(
  { createdFrom, createdBefore, order }: Pick<ListQuery, 'createdFrom' | 'createdBefore' | 'order'>,
  after?: Place,
  { at, key } = { at: 'created_at', key: 'token' },
): Term[] {
  if (order === 'oldest') {
    const behind: Term[] = createdFrom === undefined ? [] : [[`${at} >= ?`, createdFrom]];
    return [
      ...(after === undefined ? behind : [[`(${at}, ${key}) > (?, ?)`, after.at, after.key] satisfies Term]),
      ...(createdBefore === undefined ? [] : [[`${at} < ?`, createdBefore] satisfies Term]),
    ];
  }
  const before = createdBefore === undefined ? undefined : { at: createdBefore, key: '' };
  const bound = after === undefined || (before !== undefined && before.at <= after.at) ? before : after;
  return [
    ...(createdFrom === undefined ? [] : [[`${at} >= ?`, createdFrom] satisfies Term]),
    ...(bound === undefined ? [] : [[`(${at}, ${key}) < (?, ?)`, bound.at, bound.key] satisfies Term]),
  ];
}

/** A hash of name and text, at a fixed length and collision-resistant. */
const metadataHash = (name: string, text: string): string =>
  createHash('sha256')
    .update(JSON.stringify([name, text]))
    .digest('hex')
    .slice(0, 32);

/** For a new row only: metadata never change. */
export function writeMetadata(statements: Statements, kind: ViewKind, view: ViewEnvelope): void {
  const metadata = kind.table.metadataOf?.(view);
  if (metadata === undefined) return;
  const { environment, team } = kind.ownerOf(view);
  if (team === undefined) return;
  const insertion = statements(`INSERT INTO ${kind.table.name}_metadata VALUES (?, ?, ?, ?, ?)`);
  for (const [name, text] of Object.entries(metadata))
    insertion.run(environment, team, metadataHash(name, text), view.createdAt, view.token);
}
