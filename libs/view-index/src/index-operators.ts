/** What people who operate the gateway ask of the index, beyond lists. */
import { paymentPhases, type PaymentPhase } from '@tollgate/payment-domain';
import type { IndexFile } from './index-file.ts';
import type { ListOwner } from './list-page.ts';

export interface HourCount {
  /** Its first millisecond since the Unix epoch. */
  hour: number;
  phase: PaymentPhase;
  count: number;
}

const hourMs = 3_600_000;

/** Reads only entries of an index, one range for each owner and phase. */
export function countByHour(file: IndexFile, owners: readonly ListOwner[], from: number): HourCount[] {
  const sql = `SELECT created_at / ${hourMs} AS hour, count(*) AS count FROM payments INDEXED BY payments_by_phase
    WHERE environment = ? AND team = ? AND phase = ? AND created_at >= ? GROUP BY hour`;
  return owners.flatMap(({ environment, team }) =>
    paymentPhases.flatMap((phase) =>
      file.select(sql, [environment, team, phase, from]).map((row) => ({
        ...{ hour: Number(row['hour']) * hourMs, phase, count: Number(row['count']) },
      })),
    ),
  );
}

export function dueAtOf(file: IndexFile, token: string): number | undefined {
  const [row] = file.select('SELECT due_at AS dueAt FROM payments WHERE token = ?', [token]);
  const dueAt = row?.['dueAt'];
  return dueAt === null || dueAt === undefined ? undefined : Number(dueAt);
}

/** Jumps from one account to the next in the index that leads from the service's tokens, so that it costs as many lookups as there are accounts. */
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
