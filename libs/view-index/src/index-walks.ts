/**
 * How a filtered list is read: as walks, each through one index that has the rows in the order of the answer. SQLite has
 * no statistics here, so it is told which index to take, and refuses the query where that one cannot lead.
 */
import type { ViewKind } from '@tollgate/views';
import type { ListQuery } from './view-list.ts';
import type { Place } from './list-page.ts';

/** A part of an answer; its rows have `kind`, `created_at` and `token`. */
export interface Walk {
  sql: string;
  values: (string | number)[];
}

/** The walks that together give the rows of a query in one table after a place, newest first. None where no row can fit. */
export function walksOf({ name, table }: ViewKind, query: ListQuery, after?: Place): Walk[] {
  const phases = phasesIn(table, query);
  if (phases?.length === 0) return [];
  const { index, isLedByPhase } = leadOf(query);
  const head = `SELECT '${name}' AS kind, created_at, token FROM ${table.name} INDEXED BY ${table.name}_${index}`;
  const others = [...ownerTerms(query), ...filterTerms(query), ...ageTerms(query, after)];
  const walk = (terms: Term[]): Walk => ({
    sql: `${head} WHERE ${terms.map(([sql]) => sql).join(' AND ')}`,
    values: terms.flatMap(([, ...values]) => values),
  });
  if (phases === undefined) return [walk(others)];
  if (isLedByPhase) return phases.map((phase) => walk([...others, ['phase = ?', phase]]));
  return [walk([...others, [`phase IN (${phases.map(() => '?').join(', ')})`, ...phases]])];
}

/** Undefined for all of them. */
function phasesIn(
  { phasesOf }: ViewKind['table'],
  { status, phase }: ListQuery,
): readonly string[] | undefined {
  const ofStatus = status === undefined ? undefined : (phasesOf?.(status) ?? []);
  if (phase === undefined) return ofStatus;
  return ofStatus === undefined || ofStatus.includes(phase) ? [phase] : [];
}

/** Which index leads. */
function leadOf({ orderNumber, needsReview, status, phase, currency }: ListQuery) {
  if (orderNumber !== undefined) return { index: 'by_order_number', isLedByPhase: false };
  if (needsReview === true) return { index: 'needing_review', isLedByPhase: false };
  const isLedByPhase = status !== undefined || phase !== undefined;
  if (isLedByPhase)
    return { index: currency === undefined ? 'by_phase' : 'by_phase_and_currency', isLedByPhase };
  return { index: currency === undefined ? 'by_age' : 'by_currency', isLedByPhase };
}

type Term = [sql: string, ...values: (string | number)[]];

const ownerTerms = ({ environment, team }: ListQuery): Term[] => [
  ['environment = ?', environment],
  ['team = ?', team],
];

function filterTerms({ orderNumber, currency, needsReview }: ListQuery): Term[] {
  const terms: Term[] = [];
  if (orderNumber !== undefined) terms.push(['order_number = ?', orderNumber]);
  if (currency !== undefined) terms.push(['currency = ?', currency]);
  // Written out, because the index of those that wait is taken only where the text says so.
  if (needsReview !== undefined) terms.push([`needs_review = ${needsReview ? 1 : 0}`]);
  return terms;
}

/** One bound on either side: of two, SQLite would seek by one and pass over all rows that the other leaves out. */
function ageTerms({ createdFrom, createdBefore }: ListQuery, after?: Place): Term[] {
  const before = createdBefore === undefined ? undefined : { at: createdBefore, key: '' };
  const bound = after === undefined || (before !== undefined && before.at <= after.at) ? before : after;
  return [
    ...(createdFrom === undefined ? [] : [['created_at >= ?', createdFrom] satisfies Term]),
    ...(bound === undefined ? [] : [['(created_at, token) < (?, ?)', bound.at, bound.key] satisfies Term]),
  ];
}
