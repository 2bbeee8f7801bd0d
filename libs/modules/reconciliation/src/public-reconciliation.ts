/** Reconciliations as administrators see them. */
import { type PublicDifference, type PublicReconciliation, toIso, toWholeUnits } from '@tollgate/gateway-api';
import type { ReconciliationReport, ReconciliationSummary } from './reconciliation.ts';
import { omitUndefined } from '@tollgate/service-kit';

const withWholeUnits = <Amounts extends object>(amounts: Amounts): Amounts =>
  Object.fromEntries(
    Object.entries(amounts).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === 'number' ? toWholeUnits(value) : value,
    ]),
  ) as Amounts;

export function toPublicReconciliation(summary: ReconciliationSummary): PublicReconciliation {
  const { token, account, day, isDryRun, by, outcome, startedAt, endedAt, counts, sums } = summary;
  const times = { startedAt: toIso(startedAt), endedAt: toIso(endedAt) };
  const whole = sums.map((each) => withWholeUnits(each));
  return { token, account, day, isDryRun, by, outcome, ...times, counts, sums: whole };
}

export const toPublicDifferences = ({ differences }: ReconciliationReport): PublicDifference[] =>
  differences.map(({ kind, operation, token, serviceToken, currency, isSettled, ...amounts }) => ({
    kind,
    operation,
    serviceToken,
    currency,
    isSettled,
    ...omitUndefined({
      token,
      here: amounts.here && withWholeUnits(amounts.here),
      there: amounts.there && withWholeUnits(amounts.there),
    }),
  }));
