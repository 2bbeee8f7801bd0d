/** One run of the simulated world under one seed: a safety phase with faults, then a healing phase. */
import type { RecordedEvent } from '@tollgate/event-store';
import { errorCode } from '@tollgate/service-kit';
import { type Books, createBooks } from './checks/books.ts';
import { type Checks, type Violation, createChecks } from './checks/invariants.ts';
import { createCallbackSender } from './faults/callbacks.ts';
import { type Partitions, createPartitions, restart } from './faults/disasters.ts';
import { type Faults, createFaults } from './faults/faults.ts';
import { type ServiceAnswer, type ServiceRequest, createServiceApi } from './payment-service/api.ts';
import { type Ledger, createLedger } from './payment-service/ledger.ts';
import { type Rules, createRules } from './people/teams.ts';
import { lengthOf, live } from './phases.ts';
import { type EventLog, createEventLog } from './world/event-log.ts';
import { type Broker, createBroker } from './world/faulty-bus.ts';
import { type Machine, createMachine, epochMs } from './world/machine.ts';
import { startProcess } from './world/process.ts';
import { type Random, createRandom } from './world/random.ts';
import { type Scheduler, type Trace, createScheduler, createTrace } from './world/scheduler.ts';

export type RunResult = Awaited<ReturnType<typeof runSeed>>;

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
  /** The Payment Service's answer to a request that has reached it. */
  answerOf: (request: ServiceRequest) => ServiceAnswer;
  books: Books;
  checks: Checks;
  machines: Machine[];
  partitions: Partitions;
  /** The store was replaced by an earlier backup. */
  isRestored(): boolean;
  /** Books and checks are being rebuilt, without repeating earlier complaints. */
  isReplaying: boolean;
  /** Rebuilds books and checks from the events on record after a restore. */
  beginAnew(): void;
  /** Both processes are down and are not restarted. */
  isOutage(): boolean;
  /** When each is up again. Of the accounts one hangs. @unit milliseconds */
  downUntil: Record<'store' | 'bus' | 'service' | 'account', number>;
  /** The public topics. */
  broker: Broker;
  /** How often each path was taken. */
  paths: Map<string, number>;
  saw(path: string): void;
  /** Descriptions of work that must come to its end while the world heals. */
  underWay: Set<{ what: string }>;
  begin(what: string, work: Promise<unknown>): void;
  violations: Violation[];
  complain(invariant: string, text: string): void;
  hasFailed(): boolean;
  boot(machine: Machine): void;
}

/** Runs a seed to its end, or to its first violation. */
export async function runSeed(seed: number | string) {
  const random = createRandom(seed);
  const { safetyMs, pace } = lengthOf(random);
  const world = createWorld(random, pace);
  const { scheduler, trace, faults, paths, violations } = world;
  for (const name of ['a', 'b'])
    world.machines.push(createMachine(name, scheduler, random.fork(`machine ${name}`)));
  if (faults.isBare) world.saw('a bare service');
  const operations = random.fork('length').whole(2, 9);
  await live(world, { operations, safetyMs });
  return {
    seed,
    operations,
    paths,
    violation: violations[0],
    traceHash: trace.hash(),
    steps: trace.steps(),
    simulatedMs: scheduler.now(),
    faults: faults.counts(),
    lines: trace.lines,
  };
}

/** Starts a gateway process on a machine, again if it could not start. */
function boot(world: World, machine: Machine): void {
  const { trace } = world;
  const life = machine.life();
  trace.log(`${life.name} starts`);
  startProcess(world, life).then(
    (process) => {
      machine.process = process;
      trace.log(`${life.name} serves`);
    },
    (error: unknown) => {
      trace.log(`${life.name} could not start: ${errorCode(error) ?? String(error)}`);
      if (errorCode(error) === undefined) world.complain('start', String(error));
      restart(world, machine, 1_000);
    },
  );
}

function createWorld(random: Random, pace: number): World {
  const trace = createTrace(() => scheduler.now());
  const scheduler: Scheduler = createScheduler(trace);
  const faults = createFaults(random.fork('faults'), pace);
  const paths: World['paths'] = new Map();
  const violations: Violation[] = [];
  const underWay: World['underWay'] = new Set();
  let isRestored = false;
  const trueTime = () => Math.floor(epochMs + scheduler.now());
  const log = createEventLog(trueTime);
  log.onEvent((event) => hear(world, event));
  const ledger = createLedger(trueTime, random.fork('ledger'), (changed) => {
    trace.log(`service: ${changed.orderNumber} ${changed.type} is ${changed.status}`);
    callbacks.notify(changed);
    world.checks.onLedgerChanged();
  });
  const world = {
    random,
    scheduler,
    pace,
    isReviewByTwo: random.fork('reviews').chance(0.5),
    rules: createRules(random.fork('money rules'), scheduler.now),
    trace,
    faults,
    log,
    ledger,
    answerOf: createServiceApi(ledger, random.fork('service'), faults),
    machines: [],
    partitions: createPartitions(scheduler.now),
    isOutage: () => false,
    downUntil: { store: 0, bus: 0, service: 0, account: 0 },
    broker: createBroker('kafka.sim'),
    paths,
    saw: (path) => void paths.set(path, (paths.get(path) ?? 0) + 1),
    underWay,
    begin: (what, work) => {
      const entry = { what };
      underWay.add(entry);
      void work.then(() => underWay.delete(entry));
    },
    violations,
    complain: (invariant, text) => {
      if (world.isReplaying) return;
      trace.log(`VIOLATION of ${invariant}: ${text}`);
      violations.push({ invariant, text, atMs: scheduler.now() });
    },
    hasFailed: () => violations.length > 0,
    boot: (machine) => boot(world, machine),
    isRestored: () => isRestored,
    beginAnew: () => {
      isRestored = true;
      takeAccount(world);
      // The operator sets a new topic prefix, as after every restore.
      world.broker = createBroker('kafka.sim/restored.');
    },
  } as Partial<World> as World;
  takeAccount(world);
  const callbacks = createCallbackSender(world);
  return world;
}

/** Builds books and checks from the events on record, without repeating earlier complaints. */
function takeAccount(world: World): void {
  const { log, scheduler } = world;
  world.isReplaying = true;
  world.books = createBooks(world.complain);
  world.checks = createChecks(world);
  for (const event of log.all()) world.checks.onRecorded(event, world.books.apply(event, scheduler.now()));
  world.isReplaying = false;
}

/** Passes a recorded event to its consumers, in this order. */
function hear({ trace, books, checks, scheduler, saw }: World, event: RecordedEvent): void {
  const { stream, revision, type, data } = event;
  // Nine events of ten, and none of them about money.
  if (stream.startsWith('lease-') || stream === 'members') return;
  if (/^(payment|payout|dispute)-/.test(stream)) trace.log(`${stream} #${revision} ${type}`);
  const operation = books.apply(event, scheduler.now());
  checks.onRecorded(event, operation);
  const { code, discrepancy } = data as { code?: string; discrepancy?: { kind: string } };
  if (type === 'ReviewOpened') saw(`review: ${discrepancy?.kind ?? code}`);
}
