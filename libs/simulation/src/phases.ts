/** The phases of a world, in order: safety, possibly an outage of days, healing, comparison. */
import { requireTopics } from './checks/invariants.ts';
import { compareReadModels } from './checks/read-models.ts';
import { requireNoSecretIn } from './checks/secrets.ts';
import { beginDisasters, endDisasters, isServiceSettled } from './faults/disasters.ts';
import { wasClockStepped } from './faults/faults.ts';
import { makeBackup, outageOfDays } from './faults/recovery.ts';
import { type CallerOf, createFrontDoor } from './people/front-door.ts';
import { beginMoving } from './people/moving.ts';
import { beginOperators, beginRuleChanges } from './people/operators.ts';
import { paymentStory, payoutStory } from './people/payments.ts';
import { beginPersons } from './people/persons.ts';
import { beginEndpoints, beginFeedReaders } from './people/receivers.ts';
import type { World } from './world.ts';
import type { Random } from './world/random.ts';

const minute = 60_000;
/** At its end everything must be final or in review. */
const healingMs = 130 * minute;
/** The length for which caller pauses and disaster intervals are designed. */
const usualSafetyMs = 7 * minute;

/** Most seeds are short; fewer seeds run long enough for problems that take minutes. */
export function lengthOf(random: Random): { safetyMs: number; pace: number } {
  const own = random.fork('safety');
  const safetyMs = (own.chance(0.75) ? own.between(1, 4) : own.between(4, 12)) * minute;
  return { safetyMs, pace: Math.min(1, safetyMs / usualSafetyMs) };
}

/** Runs a world until everything is compared or an invariant is violated. */
export async function live(
  world: World,
  { operations, safetyMs }: { operations: number; safetyMs: number },
): Promise<void> {
  const { scheduler, random, faults, trace } = world;
  const isOver = world.hasFailed;
  for (const machine of world.machines) world.boot(machine);
  const callerOf = createFrontDoor(world, () => scheduler.now() < safetyMs);
  beginStories(world, callerOf, { operations, withinMs: safetyMs * 0.7 });
  const unadopted = beginMoving(world, callerOf);
  const persons = beginPersons(callerOf);
  beginEndpoints(world, callerOf);
  const feeds = beginFeedReaders(world, callerOf);
  beginOperators(callerOf);
  beginRuleChanges(callerOf);
  const restore = makeBackup(world, safetyMs);
  beginDisasters(world);
  await scheduler.runUntil(safetyMs, isOver);
  if (isOver()) return;
  // Only reconciliation finds a revision long after the last inquiry.
  const mayGetLost = unadopted === undefined && faults.blind === undefined;
  const isLong = mayGetLost && faults.strikes('outage-of-days', random);
  const isLost = mayGetLost && !isLong && faults.strikes('restored-from-backup', random);
  faults.end();
  if (isLost) restore(callerOf);
  if (isLong) await outageOfDays(world, callerOf);
  trace.log('HEALING: nothing fails any more');
  endDisasters(world);
  await heal(world, { persons, feeds, unadopted });
}

/** How often the world is checked while it heals, and how long everything must have been settled. */
const pauseMs = 10_000;
const settledForMs = 2 * minute;

interface Surroundings {
  persons: ReturnType<typeof beginPersons>;
  feeds: ReturnType<typeof beginFeedReaders>;
  unadopted: ReturnType<typeof beginMoving>;
}

/** Runs until everything is settled, or the bound is reached. */
async function heal(world: World, { persons, feeds, unadopted }: Surroundings): Promise<void> {
  const { scheduler, log, complain, trace } = world;
  const begunAt = scheduler.now();
  // By a clock that was an hour ahead, the inquiry after an hour is past: the next one about an open payment is due six hours
  // after its change, and up to a tenth later.
  const boundMs = () => begunAt + healingMs + (wasClockStepped(world.faults) ? 7 * 60 * minute : 0);
  const differences = () => [
    ...world.machines.flatMap(({ name, process, life }) => {
      if (process === undefined) return [`${name} does not serve`];
      // The world may be quiet for longer than the settling time.
      return life().isPaused() ? [`${name} stands still`] : [];
    }),
    ...world.checks.differences(),
    ...(unadopted?.() ?? []),
    ...[...world.underWay].map(({ what }) => `not over: ${what}`),
  ];
  let settledSince: number | undefined;
  while (!world.hasFailed() && scheduler.now() < boundMs()) {
    await scheduler.runUntil(scheduler.now() + pauseMs, world.hasFailed);
    if (!isServiceSettled(world) || differences().length > 0) settledSince = undefined;
    else settledSince ??= scheduler.now();
    const isLongEnough = settledSince !== undefined && scheduler.now() - settledSince >= settledForMs;
    if (isLongEnough && persons.isIdle()) break;
  }
  persons.stop();
  // The latest events must be published and projected first. A webhook that reaches one of a team's receivers meanwhile must
  // reach the other one, too.
  do await scheduler.runUntil(scheduler.now() + pauseMs, world.hasFailed);
  while (!world.hasFailed() && scheduler.now() < boundMs() && differences().length > 0);
  if (world.hasFailed()) return;
  trace.log('it is compared');
  for (const difference of differences()) complain('I9', difference);
  world.checks.atEnd();
  requireTopics(world.broker.records, log.all(), complain);
  requireNoSecretIn(log, complain);
  await compareReadModels(world);
  if (!world.isRestored()) await feeds.finish();
}

/** Each team's stories, started at different times. */
function beginStories(
  { scheduler, random, begin }: World,
  callerOf: CallerOf,
  { operations, withinMs }: { operations: number; withinMs: number },
): void {
  for (let number = 1; number <= operations; number += 1) {
    const own = random.fork(`story ${number}`);
    const story = own.chance(payoutsShare) ? payoutStory : paymentStory;
    scheduler.after(5_000 + own.between(0, withinMs), `story ${number}`, () =>
      begin(`story ${number} of a team`, story(callerOf(`caller ${number}`), number)),
    );
  }
}

const payoutsShare = 0.35;
