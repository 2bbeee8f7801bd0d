/** Operators' queries, beyond lists. */
import { paymentPhases, type Environment, type PaymentPhase } from '@tollgate/core';
import type { Position } from '@tollgate/event-store';
import { hourMs } from '@tollgate/service-kit';
import type { IndexFile } from './index-file.ts';
import type { ListOwner } from './list-page.ts';

/** Columns by which payments are grouped when they are counted. */
const groupColumns = { account: 'account', currency: 'currency', reason: 'decline_reason' } as const;

export interface CountQuery {
  /** Milliseconds since the Unix epoch, inclusive. */
  createdFrom: number;
  /** Exclusive. */
  createdBefore: number;
  stepMs: number;
  by?: keyof typeof groupColumns | undefined;
  /** @default all */
  phases?: readonly PaymentPhase[];
}

export interface PhaseCount {
  /** Begin of the step, milliseconds since the Unix epoch. */
  at: number;
  phase: PaymentPhase;
  /** Undefined for a payment without a decline reason, and without `by`. */
  group: string | undefined;
  count: number;
}

interface Counted {
  step: number;
  name: string | null;
  count: number;
}

/** Reads only entries of an index, one range for each phase. */
export function countPayments(
  file: IndexFile,
  { environment, team }: ListOwner,
  { createdFrom, createdBefore, stepMs, by, phases = paymentPhases }: CountQuery,
): PhaseCount[] {
  const group = by === undefined ? 'NULL' : groupColumns[by];
  const sql = `SELECT created_at / ${stepMs} AS step, ${group} AS name, count(*) AS count
    FROM payments INDEXED BY payments_by_phase
    WHERE environment = ? AND team = ? AND phase = ? AND created_at >= ? AND created_at < ? GROUP BY step, name`;
  return phases.flatMap((phase) =>
    file
      .select<Counted>(sql, [environment, team, phase, createdFrom, createdBefore])
      .map(({ step, name, count }) => ({ at: step * stepMs, phase, group: name ?? undefined, count })),
  );
}

export interface Waiting {
  unresolvedPayments: number;
  unresolvedPayouts: number;
  payoutsToApprove: number;
  openDisputes: number;
  reviews: number;
}

/** Reads only index entries of open work. */
export function countWaiting(file: IndexFile, owners: readonly ListOwner[]): Waiting {
  const count = (from: string, where = ''): number => {
    const sql = `SELECT count(*) AS count FROM ${from} WHERE environment = ? AND team = ? ${where}`;
    const counts = owners.map(({ environment, team }) => file.select(sql, [environment, team])[0]?.['count']);
    return counts.reduce<number>((sum, each) => sum + Number(each), 0);
  };
  const unresolvedIn = (table: string) =>
    count(`${table} INDEXED BY ${table}_unresolved`, 'AND is_unresolved = 1');
  return {
    unresolvedPayments: unresolvedIn('payments'),
    unresolvedPayouts: unresolvedIn('payouts'),
    payoutsToApprove: count('payouts INDEXED BY payouts_by_phase', "AND phase = 'awaiting_approval'"),
    openDisputes: count('disputes INDEXED BY disputes_by_phase', "AND phase IN ('open', 'unknown')"),
    reviews: count('reviews'),
  };
}

/** Open reviews by the hour in which they were opened. */
export function countReviewsByHour(file: IndexFile, owners: readonly ListOwner[]): Map<number, number> {
  const sql = `SELECT since / ${hourMs} AS hour, count(*) AS count FROM reviews
    WHERE environment = ? AND team = ? GROUP BY hour`;
  const byHour = new Map<number, number>();
  for (const { environment, team } of owners)
    for (const { hour, count } of file.select<{ hour: number; count: number }>(sql, [environment, team]))
      byHour.set(hour * hourMs, (byHour.get(hour * hourMs) ?? 0) + count);
  return byHour;
}

export interface Workload {
  /** Payments and payouts that wait for the provider. */
  open: { kind: 'payment' | 'payout'; inquiryNeed: 'unresolved' | 'open'; count: number }[];
  reviews: { kind: string; environment: string; count: number }[];
  /** Wallets with a negative available balance in a merchant account and currency. */
  overdrawn: { environment: string; count: number }[];
}

/** Open work over all teams. Reads only its index entries. */
export function workloadIn(file: IndexFile): Workload {
  const countOf = (table: string, need: string): number => {
    const sql = `SELECT count(*) AS count FROM ${table} INDEXED BY ${table}_by_need WHERE inquiry_need = ?`;
    return Number(file.select(sql, [need])[0]?.['count']);
  };
  return {
    open: (['payment', 'payout'] as const).flatMap((kind) =>
      (['unresolved', 'open'] as const).map((inquiryNeed) => ({
        kind,
        inquiryNeed,
        count: countOf(`${kind}s`, inquiryNeed),
      })),
    ),
    reviews: file.select(
      'SELECT kind, environment, count(*) AS count FROM reviews GROUP BY kind, environment',
      [],
    ),
    overdrawn: file.select(
      "SELECT environment, count(*) AS count FROM balances WHERE ledger_account = 'available' AND amount LIKE '-%' GROUP BY environment",
      [],
    ),
  };
}

export interface FeedEntry {
  position: Position;
  stream: string;
  revision: number;
}

/** The next events of an owner, in the order of the store. */
export const eventsAfter = (
  file: IndexFile,
  { environment, team }: ListOwner,
  { after, limit }: { after: string; limit: number },
): FeedEntry[] =>
  file.select(
    `SELECT position, stream, revision FROM events
      WHERE environment = ? AND team = ? AND position > ? ORDER BY position LIMIT ?`,
    [environment, team, after, limit],
  );

/** The next scheduled inquiry of a payment, milliseconds since the Unix epoch; undefined: none. */
export function dueAtOf(file: IndexFile, token: string): number | undefined {
  const sql = 'SELECT due_at AS dueAt FROM payments WHERE token = ?';
  return file.select<{ dueAt: number | null }>(sql, [token])[0]?.dueAt ?? undefined;
}

/**
 * As {@link findByServiceToken}, through any account. Skips from one account to the next in the index of provider tokens, at
 * one lookup per account.
 */
export function tokenByServiceToken(file: IndexFile, serviceToken: string): string | undefined {
  const next = (after: string) =>
    `SELECT environment, account FROM payments INDEXED BY payments_by_service_token
      WHERE service_token IS NOT NULL ${after} ORDER BY environment, account LIMIT 1`;
  let [place] = file.select<{ environment: Environment; account: string }>(next(''), []);
  while (place !== undefined) {
    const { environment, account } = place;
    const found = findByServiceToken(file, environment, account, serviceToken);
    if (found !== undefined) return found.token;
    [place] = file.select(next('AND (environment, account) > (?, ?)'), [environment, account]);
  }
  return undefined;
}

/** Our payment under this provider token. */
export function findByServiceToken(
  file: IndexFile,
  environment: Environment,
  account: string,
  serviceToken: string,
): { token: string; team: string } | undefined {
  const sql =
    'SELECT token, team FROM payments WHERE environment = ? AND account = ? AND service_token = ? LIMIT 1';
  return file.select<{ token: string; team: string }>(sql, [environment, account, serviceToken])[0];
}
