/** Routes that count payments over time for operators: the last 24 hours, and approved and declined ones by group. */
import { type PaymentPhase, paymentPhases, statusOfPhase } from '@tollgate/core';
import { dayMs, hourMs, omitUndefined } from '@tollgate/service-kit';
import type { CountQuery, ListOwner, PhaseCount } from '@tollgate/lists';
import { addReadRoute, routes } from '@tollgate/gateway-api/http';
import { lagSeconds } from '@tollgate/event-store';
import { toIso } from '@tollgate/gateway-api';
import type { RequestLedger } from '@tollgate/requests';
import { viewKinds } from '@tollgate/views';
import type { FastifyInstance } from 'fastify';
import { allOwnersIn, ownersIn } from './list-query.ts';
import type { ReadDependencies } from './reading.ts';

type OverviewDependencies = ReadDependencies & { requests: Pick<RequestLedger, 'creations'> };

export function registerOverviewRoutes(app: FastifyInstance, deps: OverviewDependencies): void {
  const { clock } = deps;

  addReadRoute(app, deps, routes.showOverview, async ({ reach, reply }) => {
    const owners = allOwnersIn(deps, reach);
    const { unresolvedPayments, unresolvedPayouts, ...waiting } = deps.index.countWaiting(owners);
    // Durations belong to the process, and to no team.
    const creations = reach.isEverywhere ? deps.requests.creations() : [];
    const hours = (await countHours(deps, owners, clock.now())).map(({ hour, ...counted }) => {
      const { ownMs, providerMs } = creations.find((each) => each.hour === hour) ?? {};
      return { hour: toIso(hour), ...counted, ...omitUndefined({ ownMs, providerMs }) };
    });
    return reply.send({
      success: true,
      at: toIso(clock.now()),
      hours,
      ...omitUndefined({ readModelLagMs: await readModelLagMs(deps) }),
      unresolved: unresolvedPayments + unresolvedPayouts,
      unresolvedPayouts,
      ...waiting,
    });
  });

  addReadRoute(app, deps, routes.countOutcomes, async ({ query, reach, reply }) => {
    const { team, environment, by, step, createdBefore = clock.now() + 1, ...asked } = query;
    const { createdFrom = createdBefore - countedDays * dayMs } = asked;
    const owners = ownersIn(deps, reach, { team, environment });
    const within = { createdFrom, createdBefore, stepMs: step === 'hour' ? hourMs : dayMs };
    const counts = await countOutcomes(deps, owners, { ...within, by });
    return reply.send({
      success: true,
      createdFrom: toIso(createdFrom),
      counts: counts.map(({ at, ...count }) => ({ at: toIso(at), ...count })),
    });
  });
}

/** The range of outcomes unless one is given. */
const countedDays = 31;

async function readModelLagMs(deps: OverviewDependencies): Promise<number | undefined> {
  const prefixes = viewKinds.map(({ streamPrefix }) => streamPrefix);
  const seconds = await lagSeconds(deps, { from: deps.index.position(), prefixes });
  return seconds === undefined ? undefined : Math.round(seconds * 1_000);
}

type Counting = Pick<ReadDependencies, 'index' | 'share'>;

const hoursShown = 24;

async function countHours(deps: Counting, owners: readonly ListOwner[], now: number) {
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

interface OutcomeCount {
  at: number;
  group?: string;
  approved: number;
  declined: number;
}

/** One for each step and group in which a payment was approved or declined. */
async function countOutcomes(
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
