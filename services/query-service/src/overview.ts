/** Counts payments over time for operators: the last 24 hours of the overview, and approved and declined ones by group. */
import { type PaymentPhase, paymentPhases, statusOfPhase } from '@tollgate/core';
import { dayMs, hourMs } from '@tollgate/service-kit';
import type { CountQuery, ListOwner, PhaseCount } from '@tollgate/lists';
import type { ReadDependencies } from './reading.ts';

type Counting = Pick<ReadDependencies, 'index' | 'share'>;

const hoursShown = 24;

export async function countHours(deps: Counting, owners: readonly ListOwner[], now: number) {
  const last = Math.floor(now / hourMs) * hourMs;
  const first = last - (hoursShown - 1) * hourMs;
  const within = { createdFrom: first, createdBefore: last + hourMs, stepMs: hourMs };
  const counts: PhaseCount[] = [];
  for (const owner of owners) counts.push(...(await countOf(deps, owner, within)));
  const byHour = Map.groupBy(counts, ({ at }) => at);
  const reviews = [...deps.index.countReviewsByHour(owners)];
  return Array.from({ length: hoursShown }, (_, place) => {
    const hour = first + place * hourMs;
    const counted = byHour.get(hour) ?? [];
    return {
      hour,
      created: sumOf(counted, () => true),
      approved: sumOf(counted, isApproved),
      declined: sumOf(counted, isDeclined),
      openReviews: reviews.reduce((sum, [at, count]) => (at <= hour ? sum + count : sum), 0),
    };
  });
}

export interface OutcomeCount {
  at: number;
  group?: string;
  approved: number;
  declined: number;
}

/** One for each step and group in which a payment was approved or declined. */
export async function countOutcomes(
  deps: Counting,
  owners: readonly ListOwner[],
  { by, ...query }: Omit<CountQuery, 'by'> & { by?: CountQuery['by'] | 'team' },
): Promise<OutcomeCount[]> {
  const counts: PhaseCount[] = [];
  for (const owner of owners) {
    const asked = { ...query, phases: decided, by: by === 'team' ? undefined : by };
    const counted = await countOf(deps, owner, asked);
    counts.push(...(by === 'team' ? counted.map((each) => ({ ...each, group: owner.team })) : counted));
  }
  return [...Map.groupBy(counts, ({ at, group = '' }) => `${at} ${group}`).values()]
    .map((counted) => {
      const [{ at, group }] = counted as [PhaseCount];
      const sums = { approved: sumOf(counted, isApproved), declined: sumOf(counted, isDeclined) };
      return group === undefined ? { at, ...sums } : { at, group, ...sums };
    })
    .filter(({ approved, declined }) => approved + declined > 0)
    .toSorted((one, other) => one.at - other.at || other.declined - one.declined);
}

/** Days that are counted at once: other requests wait meanwhile. */
const daysAtOnce = 31;

async function countOf(
  { index, share }: Counting,
  owner: ListOwner,
  query: CountQuery,
): Promise<PhaseCount[]> {
  const counts: PhaseCount[] = [];
  const { createdBefore, stepMs } = query;
  const pieceMs = Math.ceil((daysAtOnce * dayMs) / stepMs) * stepMs;
  for (let from = query.createdFrom; from < createdBefore;) {
    const to = Math.min(Math.floor(from / stepMs) * stepMs + pieceMs, createdBefore);
    counts.push(...index.countPayments(owner, { ...query, createdFrom: from, createdBefore: to }));
    await share.giveWay();
    from = to;
  }
  return counts;
}

function sumOf(counts: readonly PhaseCount[], isWanted: (phase: PaymentPhase) => boolean): number {
  return counts.reduce((sum, { phase, count }) => (isWanted(phase) ? sum + count : sum), 0);
}

const isApproved = (phase: PaymentPhase): boolean => ['approved', 'refunded'].includes(statusOfPhase(phase));
/** Neither the issuer nor the provider declined a voided payment. */
const isDeclined = (phase: PaymentPhase): boolean =>
  statusOfPhase(phase) === 'declined' && phase !== 'voided';

const decided = paymentPhases.filter((phase) => isApproved(phase) || isDeclined(phase));
