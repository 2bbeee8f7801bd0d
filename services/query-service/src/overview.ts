/** The last 24 hours of all teams, hour by hour. */
import { hourMs } from '@tollgate/service-kit';
import { toIso } from '@tollgate/gateway-api';
import { statusOfPhase } from '@tollgate/core';
import type { HourCount, ListOwner } from '@tollgate/lists';
import type { ReadDependencies } from './reading.ts';

const hoursShown = 24;

export async function countHours(
  { index, share }: Pick<ReadDependencies, 'index' | 'share'>,
  owners: readonly ListOwner[],
  now: number,
) {
  const last = Math.floor(now / hourMs) * hourMs;
  const first = last - (hoursShown - 1) * hourMs;
  const counts: HourCount[] = [];
  for (const owner of owners) {
    counts.push(...index.countPaymentsByHour([owner], first));
    await share.giveWay();
  }
  const counted = Map.groupBy(counts, ({ hour }) => hour);
  return Array.from({ length: hoursShown }, (_, place) => {
    const hour = first + place * hourMs;
    const sums = { created: 0, approved: 0, declined: 0 };
    for (const { phase, count } of counted.get(hour) ?? []) {
      const status = statusOfPhase(phase);
      sums.created += count;
      if (status === 'approved' || status === 'refunded') sums.approved += count;
      if (status === 'declined' && phase !== 'voided') sums.declined += count;
    }
    return { hour: toIso(hour), ...sums };
  });
}
