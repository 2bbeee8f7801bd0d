/** Operators' queries, beyond lists. */
import { paymentPhases, type Environment, type PaymentPhase } from '@tollgate/core';
import type { Position } from '@tollgate/event-store';
import { omitUndefined, hourMs } from '@tollgate/service-kit';
import type { IndexFile } from './index-file.ts';
import type { ListOwner } from './list-page.ts';

export interface HourCount {
  /** Its first millisecond since the Unix epoch. */
  hour: number;
  phase: PaymentPhase;
  count: number;
}

/** Reads only entries of an index, one range for each owner and phase. */
export function countByHour(file: IndexFile, owners: readonly ListOwner[], from: number): HourCount[] {
  const sql = `SELECT created_at / ${hourMs} AS hour, count(*) AS count FROM payments INDEXED BY payments_by_phase
    WHERE environment = ? AND team = ? AND phase = ? AND created_at >= ? GROUP BY hour`;
  return owners.flatMap(({ environment, team }) =>
    paymentPhases.flatMap((phase) =>
      file.select(sql, [environment, team, phase, from]).map((row) => ({
        hour: Number(row['hour']) * hourMs,
        phase,
        count: Number(row['count']),
      })),
    ),
  );
}

export interface Beginning {
  why: 'token' | 'order-number';
  token: string;
}

/** Sorts after every text with this prefix. */
const lastCharacter = '\u{10ffff}';

/** Maximum tokens visited with that prefix: those of other teams must not take long to skip. */
const tokensMax = 5_000;

/** One index range per kind and owner, as far as requested. */
export function findBeginning(
  file: IndexFile,
  owners: readonly ListOwner[],
  { text, limit }: { text: string; limit: number },
): Beginning[] {
  const range = [text, `${text}${lastCharacter}`];
  const sqlByToken = `SELECT token FROM (
      SELECT token, environment, team FROM payments WHERE token >= ? AND token < ? ORDER BY token LIMIT ${tokensMax}
    ) WHERE environment || ' ' || team IN (SELECT value FROM json_each(?)) LIMIT ?`;
  const keys = JSON.stringify(owners.map(({ environment, team }) => `${environment} ${team}`));
  const byToken = file
    .select(sqlByToken, [...range, keys, limit])
    .map((row) => ({ why: 'token' as const, token: String(row['token']) }));
  const sql = `SELECT token, order_number AS number FROM payments INDEXED BY payments_by_order_number
    WHERE environment = ? AND team = ? AND order_number >= ? AND order_number < ? ORDER BY order_number LIMIT ?`;
  const byOrder = owners.flatMap(({ environment, team }) =>
    file
      .select(sql, [environment, team, ...range, limit])
      .map((row) => ({ token: String(row['token']), number: String(row['number']) })),
  );
  const inOrder = byOrder
    .toSorted((one, other) => (one.number < other.number ? -1 : 1))
    .map(({ token }) => ({ why: 'order-number' as const, token }));
  return [...byToken, ...inOrder].slice(0, limit);
}

export interface Waiting {
  unresolvedPayments: number;
  unresolvedPayouts: number;
  reviews: number;
}

/** Reads only index entries of open work. */
export function countWaiting(file: IndexFile, owners: readonly ListOwner[]): Waiting {
  const count = (from: string): number => {
    const sql = `SELECT count(*) AS count FROM ${from}`;
    const counts = owners.map(({ environment, team }) => file.select(sql, [environment, team])[0]?.['count']);
    return counts.reduce<number>((sum, each) => sum + Number(each), 0);
  };
  const unresolvedIn = (table: string) =>
    count(`${table} INDEXED BY ${table}_unresolved WHERE environment = ? AND team = ? AND is_unresolved = 1`);
  return {
    unresolvedPayments: unresolvedIn('payments'),
    unresolvedPayouts: unresolvedIn('payouts'),
    reviews: count('reviews WHERE environment = ? AND team = ?'),
  };
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
    reviews: file
      .select('SELECT kind, environment, count(*) AS count FROM reviews GROUP BY kind, environment', [])
      .map((row) => ({
        kind: String(row['kind']),
        environment: String(row['environment']),
        count: Number(row['count']),
      })),
    overdrawn: file
      .select(
        "SELECT environment, count(*) AS count FROM balances WHERE ledger_account = 'available' AND amount LIKE '-%' GROUP BY environment",
        [],
      )
      .map((row) => ({ environment: String(row['environment']), count: Number(row['count']) })),
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
  file
    .select(
      `SELECT position, stream, revision FROM events
      WHERE environment = ? AND team = ? AND position > ? ORDER BY position LIMIT ?`,
      [environment, team, after, limit],
    )
    .map((row) => ({
      position: String(row['position']) as Position,
      stream: String(row['stream']),
      revision: Number(row['revision']),
    }));

/** Maximum declined payments counted, the newest of each team. */
const declinesMax = 5_000;

export interface CreatedBetween {
  /** Milliseconds since the Unix epoch, inclusive. */
  createdFrom?: number;
  /** Exclusive. */
  createdBefore?: number;
}

export interface DeclineCounts {
  /** Most frequent first; without a reason if the provider gave none. */
  reasons: { reason?: string; count: number }[];
  /** True if more exist that were not counted. */
  isPartial: boolean;
}

/** Reads the newest declined payments of each owner, up to a total limit. */
export function countDeclines(
  file: IndexFile,
  owners: readonly ListOwner[],
  { createdFrom = 0, createdBefore = Number.MAX_SAFE_INTEGER }: CreatedBetween,
): DeclineCounts {
  const sql = `SELECT reason, count(*) AS count FROM (
      SELECT json_extract(view, '$.payment.declineReason') AS reason FROM payments INDEXED BY payments_by_phase
      WHERE environment = ? AND team = ? AND phase = 'declined' AND created_at >= ? AND (created_at, token) < (?, '')
      ORDER BY created_at DESC, token DESC LIMIT ?
    ) GROUP BY reason`;
  const counts = new Map<string | undefined, number>();
  let left = declinesMax;
  for (const { environment, team } of owners)
    for (const row of file.select(sql, [environment, team, createdFrom, createdBefore, left])) {
      const reason = row['reason'] === null ? undefined : String(row['reason']);
      const count = Number(row['count']);
      counts.set(reason, (counts.get(reason) ?? 0) + count);
      left -= count;
    }
  const reasons = [...counts].map(([reason, count]) => ({ ...omitUndefined({ reason }), count }));
  return { reasons: reasons.toSorted((one, other) => other.count - one.count), isPartial: left === 0 };
}

export function dueAtOf(file: IndexFile, token: string): number | undefined {
  const [row] = file.select('SELECT due_at AS dueAt FROM payments WHERE token = ?', [token]);
  const dueAt = row?.['dueAt'];
  return dueAt === null || dueAt === undefined ? undefined : Number(dueAt);
}

/** Skips from one account to the next in the index of provider tokens, at one lookup per account. */
export function tokenByServiceToken(file: IndexFile, serviceToken: string): string | undefined {
  const next = (after: string) =>
    `SELECT environment, account FROM payments INDEXED BY payments_by_service_token
      WHERE service_token IS NOT NULL ${after} ORDER BY environment, account LIMIT 1`;
  let [place] = file.select(next(''), []);
  while (place !== undefined) {
    const key = [String(place['environment']), String(place['account'])];
    const sql =
      'SELECT token FROM payments WHERE environment = ? AND account = ? AND service_token = ? LIMIT 1';
    const [row] = file.select(sql, [...key, serviceToken]);
    if (row !== undefined) return String(row['token']);
    [place] = file.select(next('AND (environment, account) > (?, ?)'), key);
  }
  return undefined;
}

interface ServiceTokenKey {
  environment: Environment;
  account: string;
  serviceToken: string;
}

export function findByServiceToken(
  file: IndexFile,
  { environment, account, serviceToken }: ServiceTokenKey,
): { token: string; team: string } | undefined {
  const sql =
    'SELECT token, team FROM payments WHERE environment = ? AND account = ? AND service_token = ? LIMIT 1';
  const [row] = file.select(sql, [environment, account, serviceToken]);
  return row && { token: String(row['token']), team: String(row['team']) };
}
