/** One run of the simulated world under one seed: a safety phase with faults, then a healing phase. */
import type { RecordedEvent } from '@tollgate/event-store';
import { type Books, createBooks } from './checks/books.ts';
import { type Checks, type Violation, createChecks } from './checks/invariants.ts';
import { type WebhookChecks, createWebhookChecks } from './checks/webhooks.ts';
import { createCallbackSender } from './faults/callbacks.ts';
import { type Partitions, createDisasters, createPartitions } from './faults/disasters.ts';
import { type Faults, createFaults } from './faults/faults.ts';
import { type Ledger, createLedger } from './payment-service/ledger.ts';
import { type Rules, createRules } from './people/teams.ts';
import { lengthOf, live } from './phases.ts';
import { type Broker, addMachines, createBroker } from './world/boot.ts';
import { type EventLog, createEventLog } from './world/event-log.ts';
import { type Machine, epochMs } from './world/machine.ts';
import type { GatewayProcess } from './world/process.ts';
import { type Random, createRandom } from './world/random.ts';
import { type Scheduler, type Trace, createScheduler, createTrace } from './world/scheduler.ts';

export interface RunOptions {
  seed: number | string;
  /** Keeps every line of the trace. */
  isWhole?: boolean;
}

export type RunResult = Awaited<ReturnType<typeof runSeed>>;

export interface RunningMachine {
  machine: Machine;
  process: GatewayProcess | undefined;
}

/** State shared by the parts of a world. */
export interface World {
  random: Random;
  scheduler: Scheduler;
  /** Factor for the usual pauses between actions: a short world is as busy as a long one. */
  pace: number;
  /** It takes two people to resolve a review. */
  isReviewByTwo: boolean;
  /** The rules for each team's money. */
  rules: Rules;
  trace: Trace;
  faults: Faults;
  log: EventLog;
  ledger: Ledger;
  books: Books;
  checks: Checks;
  machines: RunningMachine[];
  partitions: Partitions;
  /** The store was replaced by an earlier backup. */
  isRestored(): boolean;
  /** Rebuilds books and checks from the events on record after a restore. */
  beginAnew(): void;
  /** Both processes are down and are not restarted. */
  isOutage(): boolean;
  /** When each is up again. Of the accounts one hangs. @unit milliseconds */
  downUntil: Record<'store' | 'bus' | 'service' | 'account', number>;
  /** The public topics. */
  broker: Broker;
  webhooks: WebhookChecks;
  saw(path: string): void;
  complain(invariant: string, text: string): void;
  hasFailed(): boolean;
  boot(machine: RunningMachine): void;
}

/** Runs a seed to its end, or to its first violation. */
export async function runSeed({ seed, isWhole = false }: RunOptions) {
  const random = createRandom(seed);
  const violations: Violation[] = [];
  const paths = new Map<string, number>();
  const trace = createTrace({ isWhole, now: () => scheduler.now() });
  const scheduler: Scheduler = createScheduler(trace);
  const { safetyMs, pace } = lengthOf(random);
  const world = createWorld({ random, scheduler, trace, pace, violations, paths });
  const disasters = createDisasters(world);
  addMachines(world, disasters);
  if (world.faults.isBare) world.saw('a bare service');
  const operations = random.fork('length').whole(2, 9);
  await live(world, disasters, { operations, safetyMs });
  const history = { traceHash: trace.hash(), steps: trace.steps() };
  return {
    seed,
    operations,
    paths,
    violation: violations[0],
    ...history,
    simulatedMs: scheduler.now(),
    faults: world.faults.counts(),
    lines: trace.lines(),
  };
}

interface Origin extends Pick<World, 'random' | 'scheduler' | 'trace' | 'pace'> {
  violations: Violation[];
  paths: Map<string, number>;
}

function createWorld({ violations, paths, ...origin }: Origin): World {
  const { random, scheduler, trace, pace } = origin;
  let isRestored = false;
  const trueTime = () => Math.floor(epochMs + scheduler.now());
  const log = createEventLog(trueTime);
  log.onEvent((event) => hear(world, event));
  const world = {
    ...origin,
    isReviewByTwo: random.fork('reviews').chance(0.5),
    rules: createRules(random.fork('money rules'), scheduler.now),
    faults: createFaults(random.fork('faults'), pace),
    log,
    ledger: createLedger(trueTime, random.fork('ledger'), (changed) => {
      trace.log(`service: ${changed.orderNumber} ${changed.type} is ${changed.status}`);
      callbacks.notify(changed);
      world.checks.onLedgerChanged();
    }),
    machines: [],
    partitions: createPartitions(scheduler.now),
    isOutage: () => false,
    downUntil: { store: 0, bus: 0, service: 0, account: 0 },
    broker: createBroker('kafka.sim'),
    saw: (path) => void paths.set(path, (paths.get(path) ?? 0) + 1),
    complain: (invariant, text) => {
      trace.log(`VIOLATION of ${invariant}: ${text}`);
      violations.push({ invariant, text, atMs: scheduler.now() });
    },
    hasFailed: () => violations.length > 0,
    boot: () => undefined,
    isRestored: () => isRestored,
    beginAnew: () => {
      isRestored = true;
      takeAccount(world);
      // The operator sets a new topic prefix, as after every restore.
      world.broker = createBroker('kafka.sim/restored.');
    },
  } as Partial<World> as World;
  takeAccount(world);
  world.webhooks = createWebhookChecks(world);
  const callbacks = createCallbackSender(world);
  return world;
}

/** Builds books and checks from the events on record, without repeating earlier complaints. */
function takeAccount(world: World): void {
  const { log, scheduler } = world;
  let isReplaying = true;
  const own: World = Object.assign(Object.create(world) as World, {
    complain: (invariant: string, text: string) => {
      if (!isReplaying) world.complain(invariant, text);
    },
  });
  world.books = createBooks(own.complain);
  world.checks = createChecks(own);
  for (const event of log.all()) {
    world.books.apply(event, scheduler.now());
    world.checks.onRecorded(event);
  }
  isReplaying = false;
}

/** Passes a recorded event to its consumers, in this order. */
function hear({ trace, books, webhooks, checks, scheduler, saw }: World, event: RecordedEvent): void {
  const { stream, revision, type, data } = event;
  // Nine events of ten, and none of them about money.
  if (stream.startsWith('lease-') || stream === 'members') return;
  if (/^(payment|payout|dispute)-/.test(stream)) trace.log(`${stream} #${revision} ${type}`);
  books.apply(event, scheduler.now());
  webhooks.onRecorded(event);
  checks.onRecorded(event);
  const { code, discrepancy } = data as { code?: string; discrepancy?: { kind: string } };
  if (type === 'ReviewOpened') saw(`review: ${discrepancy?.kind ?? code}`);
}
