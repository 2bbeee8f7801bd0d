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
