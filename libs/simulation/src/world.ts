/** One run of the simulated world under one seed: a safety phase in which everything fails, then a healing phase. */
import { type MessageBus, BusUnavailable } from '@tollgate/message-bus';
import { type Log, errorCode } from '@tollgate/service-kit';
import { type Books, createBooks } from './books.ts';
import { type CallbackSender, createCallbackSender } from './callbacks.ts';
import { type StoryKind, paymentStory, payoutStory } from './callers.ts';
import {
  type CrashPoint,
  type Disasters,
  createDisasters,
  isServiceSettled,
  setStoreClockBack,
} from './disasters.ts';
import { beginOperators } from './operators.ts';
import { outageOfDays } from './outage.ts';
import { type EventLog, createEventLog } from './event-log.ts';
import { type FaultKind, type Faults, createFaults } from './faults.ts';
import { compareReadModels } from './read-models.ts';
import { createFrontDoor } from './front-door.ts';
import { type Checks, type Violation, createChecks, requireTopics } from './invariants.ts';
import { type Life, type Machine, createMachine, epochMs } from './machine.ts';
import { createServiceApi } from './payment-service/api.ts';
import { type Ledger, createLedger } from './payment-service/ledger.ts';
import { createConnections } from './payment-service/network.ts';
import { type GatewayProcess, configOf, startProcess } from './process.ts';
import { type Random, createRandom } from './random.ts';
import { type Partitions, createPartitions } from './partitions.ts';
import { type Persons, beginPersons } from './persons.ts';
import { type Scheduler, createScheduler } from './scheduler.ts';
import { createSimulatedStore } from './simulated-store.ts';
import { simulatedDirectory } from './teams.ts';
import { type Trace, createTrace } from './trace.ts';
import { createWebhookReceivers, missingWebhooks } from './webhooks.ts';

export interface RunOptions {
  seed: number | string;
  /** Keeps every line of the story. */
  isWhole?: boolean;
  /** Without any fault but those that are asked for. */
  isCalm?: boolean;
  /** A crash at a certain delivery to a process. */
  crashAt?: CrashPoint;
  /** One payment of this kind, at once, in which these faults happen at the first occasion. */
  scenario?: Scenario;
  /** At most so many payments and payouts. */
  operationsMax?: number;
  /** Faults that are left out. */
  without?: readonly FaultKind[];
}

export interface Scenario {
  kind: StoryKind;
  forced: readonly FaultKind[];
}

export interface RunResult {
  seed: number | string;
  violation: Violation | undefined;
  traceHash: string;
  steps: number;
  simulatedMs: number;
  faults: ReadonlyMap<string, number>;
  paths: ReadonlyMap<string, number>;
  lines: readonly string[];
  operations: number;
  /** How often something was delivered to each machine. */
  deliveries: ReadonlyMap<string, number>;
}

export interface RunningMachine {
  machine: Machine;
  process: GatewayProcess | undefined;
}

/** What the parts of a world share. */
export interface World {
  random: Random;
  scheduler: Scheduler;
  /** Of the usual pauses between what happens: a short world is as full as a long one. */
  pace: number;
  /** It takes two persons to resolve a review. */
  isReviewByTwo: boolean;
  trace: Trace;
  faults: Faults;
  log: EventLog;
  ledger: Ledger;
  books: Books;
  checks: Checks;
  machines: readonly RunningMachine[];
  partitions: Partitions;
  /** Both processes are gone, and nobody starts them. */
  isOutage(): boolean;
  weather: {
    storeDownUntil: number;
    busDownUntil: number;
    serviceDownUntil: number;
    hangingUntil: number;
    hangingAccount: string;
    /** How far the clock of the store is ahead of the true time, milliseconds. */
    storeSkewMs: number;
  };
  /** The statuses that the teams were told of. */
  webhooks: Map<string, Set<string>>;
  saw(path: string): void;
  complain(invariant: string, text: string): void;
  hasFailed(): boolean;
  boot(machine: RunningMachine): void;
}

const accounts = ['main', 'other'] as const;
const minute = 60_000;
/** By the end of it everything must be final or in review. */
const healingMs = 130 * minute;
const sendWithinMs = 5_000;

const fairWeather = {
  ...{ storeDownUntil: 0, busDownUntil: 0, serviceDownUntil: 0, hangingUntil: 0 },
  hangingAccount: 'other',
  storeSkewMs: 0,
};

/** Runs a seed to its end, or to its first violation. */
export async function runSeed(options: RunOptions): Promise<RunResult> {
  const { seed, isWhole = false, isCalm = false, operationsMax = Infinity, crashAt, scenario } = options;
  const random = createRandom(seed);
  const violations: Violation[] = [];
  const paths = new Map<string, number>();
  const trace = createTrace({ isWhole, now: () => scheduler.now() });
  const scheduler: Scheduler = createScheduler(trace);
  const { safetyMs, pace } = lengthOf(random, scenario);
  const faults = createFaults(random.fork('faults'), {
    ...{ isCalm, without: options.without ?? [], forced: scenario?.forced ?? [], pace },
  });
  const complain = (invariant: string, text: string) => {
    trace.tell(`VIOLATION of ${invariant}: ${text}`);
    violations.push({ invariant, text, atMs: scheduler.now() });
  };
  const log = createEventLog(() => Math.floor(epochMs + scheduler.now() + world.weather.storeSkewMs));
  const books = createBooks(complain);
  log.onEvent((event) => {
    if (isHousekeeping(event.stream)) return;
    if (/^(payment|payout)-/.test(event.stream))
      trace.tell(`${event.stream} #${event.revision} ${event.type}`);
    books.apply(event, scheduler.now());
    checks.onRecorded(event);
    if (event.type === 'ReviewOpened') world.saw(`review: ${String((event.data as { code?: string }).code)}`);
  });
  const callbacks: { sender?: CallbackSender } = {};
  const ledger = createLedger(
    () => Math.floor(epochMs + scheduler.now()),
    random.fork('ledger'),
    (changed) => {
      trace.tell(`service: ${changed.orderNumber} ${changed.type} is ${changed.status}`);
      callbacks.sender?.tell(changed);
      world.checks.onLedgerChanged();
    },
  );
  const isReviewByTwo = random.fork('reviews').chance(0.5);
  const checks = createChecks({
    ...{ now: scheduler.now, ledger, books, sendWithinMs, isReviewByTwo, complain },
    wasClockWrong: () => faults.counts().has('store-clock-set-back'),
  });
  const world: World = {
    ...{ random, scheduler, pace, isReviewByTwo, trace, faults, log, ledger, books, checks, complain },
    machines: [],
    partitions: createPartitions(scheduler.now),
    isOutage: () => false,
    webhooks: new Map(),
    weather: { ...fairWeather },
    saw: (path) => void paths.set(path, (paths.get(path) ?? 0) + 1),
    hasFailed: () => violations.length > 0,
    boot: () => undefined,
  };
  const disasters = createDisasters(world, crashAt);
  addMachines(world, disasters);
  callbacks.sender = createCallbackSender(world);
  const operations = Math.min(operationsMax, random.fork('length').whole(2, 9));
  await live(world, disasters, {
    operations: scenario === undefined ? operations : 1,
    ...{ kind: scenario?.kind, safetyMs },
  });
  return {
    ...{ seed, operations, paths, violation: violations[0], traceHash: trace.hash(), steps: trace.steps() },
    ...{ simulatedMs: scheduler.now(), faults: faults.counts(), lines: trace.lines() },
    deliveries: disasters.deliveries(),
  };
}

/** Nine events of ten, and none about money. */
const isHousekeeping = (stream: string): boolean =>
  stream.startsWith('lease-') || stream === 'members' || stream === 'clock-check';

/** What the pauses of callers and the distances of disasters are meant for. */
const usualSafetyMs = 7 * minute;

/** Most seeds are short: what takes minutes to go wrong is tried by fewer. */
function lengthOf(random: Random, scenario: Scenario | undefined): { safetyMs: number; pace: number } {
  if (scenario !== undefined) return { safetyMs: minute, pace: 1 };
  const own = random.fork('safety');
  const safetyMs = (own.chance(0.75) ? own.between(1, 4) : own.between(4, 12)) * minute;
  return { safetyMs, pace: Math.min(1, safetyMs / usualSafetyMs) };
}

interface Stories {
  operations: number;
  /** Of the only story, which begins at once. */
  kind: StoryKind | undefined;
}

async function live(
  world: World,
  disasters: Disasters,
  { operations, kind, safetyMs }: Stories & { safetyMs: number },
): Promise<void> {
  const { scheduler, random, faults, trace } = world;
  const isOver = world.hasFailed;
  // What is final may be inquired as late as the clock was wrong: the reconciliation learns it before.
  const mayBeWrong = faults.blind !== 'reconciliation' && kind === undefined;
  if (mayBeWrong && faults.strikes('store-clock-set-back', random.fork('store clock')))
    setStoreClockBack(world, safetyMs);
  for (const machine of world.machines) world.boot(machine);
  const frontDoor = createFrontDoor(world, () => scheduler.now() < safetyMs);
  const underWay = beginStories(world, frontDoor, {
    ...{ operations, kind },
    withinMs: kind === undefined ? safetyMs * 0.7 : 1,
  });
  const persons = beginPersons(world, frontDoor.callerOf);
  if (kind === undefined) beginOperators(world, accounts, frontDoor.callerOf);
  disasters.begin();
  await scheduler.runUntil(safetyMs, isOver);
  if (isOver()) return;
  // What was revised long after its last inquiry is learnt by a reconciliation only.
  const isLong = kind === undefined && faults.blind === undefined && faults.strikes('outage-of-days', random);
  faults.end();
  if (isLong) await outageOfDays(world, { accounts, callerOf: frontDoor.callerOf });
  trace.tell('HEALING: nothing fails any more');
  disasters.heal();
  await heal(world, { underWay, persons, patience: kind === undefined ? ofSeeds : ofScenarios });
}

/** How long everything must have been settled, and how often that is looked at. */
interface Patience {
  pauseMs: number;
  settledForMs: number;
}
const ofSeeds: Patience = { pauseMs: 10_000, settledForMs: 2 * minute };
/** Of one payment only, and of very many runs. */
const ofScenarios: Patience = { pauseMs: 5_000, settledForMs: minute / 2 };

/** Until everything is settled, at most until the bound. */
async function heal(
  world: World,
  { underWay, persons, patience }: { underWay: { count: number }; persons: Persons; patience: Patience },
): Promise<void> {
  const boundMs = world.scheduler.now() + healingMs;
  const { scheduler, log, checks, complain, trace } = world;
  const differences = () => [
    ...(underWay.count > 0 ? [`${underWay.count} requests of teams were never answered`] : []),
    ...checks.differences(),
    ...missingWebhooks(world),
  ];
  const { pauseMs, settledForMs } = patience;
  let settledSince: number | undefined;
  while (!world.hasFailed() && scheduler.now() < boundMs) {
    await scheduler.runUntil(scheduler.now() + pauseMs, world.hasFailed);
    if (!isServiceSettled(world) || differences().length > 0) settledSince = undefined;
    else settledSince ??= scheduler.now();
    const isLongEnough = settledSince !== undefined && scheduler.now() - settledSince >= settledForMs;
    if (isLongEnough && persons.isIdle()) break;
  }
  persons.stop();
  if (world.hasFailed()) return;
  trace.tell('it is compared');
  for (const difference of differences()) complain('I9', difference);
  checks.atEnd();
  requireTopics(log.all(), complain);
  await compareReadModels(world);
}

/** Each team's stories, begun at times of their own. */
function beginStories(
  world: World,
  frontDoor: ReturnType<typeof createFrontDoor>,
  { operations, kind, withinMs }: Stories & { withinMs: number },
): { count: number } {
  const { scheduler, random } = world;
  const underWay = { count: 0 };
  for (let number = 1; number <= operations; number += 1) {
    const own = random.fork(`story ${number}`);
    const story = own.chance(0.8) || kind !== undefined ? paymentStory : payoutStory;
    scheduler.after(5_000 + own.between(0, withinMs), `story ${number}`, () => {
      underWay.count += 1;
      story(frontDoor.callerOf(own), number, kind).then(
        () => (underWay.count -= 1),
        (error: unknown) => world.complain('simulation', `story ${number}: ${String(error)}`),
      );
    });
  }
  return underWay;
}

function addMachines(world: World, disasters: Disasters): void {
  const { random, scheduler, faults, weather, trace } = world;
  const answerOf = createServiceApi(world.ledger, random.fork('service'), faults);
  const leaseMs = random.fork('lease').pick([10_000, 30_000, 60_000, 60_000]);
  // The first comes while everything still fails, however short the seed is.
  const settledAfterS =
    faults.blind === 'inquiries about what is final'
      ? [30 * 86_400]
      : [Math.round(300 * world.pace), 900, 2_400, 6_600];
  const config = configOf({ settledAfterS, isReviewByTwo: world.isReviewByTwo });
  const sharding = random.fork('notifier shards');
  /** Of those that a process may be told of at its start: while releases are rolled out, two differ. */
  const shardCounts = sharding.pick([[1], [1], [2], [1, 2, 3]]);
  const { isCut } = world.partitions;
  const machines = world.machines as RunningMachine[];
  const webhookClient = createWebhookReceivers(world);
  for (const name of ['a', 'b']) {
    const machine = createMachine(name, scheduler, random.fork(`machine ${name}`), (label) =>
      disasters.onDelivery(name, label),
    );
    machines.push({ machine, process: undefined });
  }
  world.boot = (running) => {
    const { machine } = running;
    const life = machine.life();
    running.process = undefined;
    const store = storeOf(world, machine.name, life);
    const connectionsTo = (account: string) =>
      createConnections({
        ...{ account, life, faults, scheduler, answerOf, ledger: world.ledger },
        isServiceDown: () => scheduler.now() < weather.serviceDownUntil || isCut(machine.name, 'service'),
        areAnswersLost: () => isCut('service', machine.name),
        doesAccountHang: () => account === weather.hangingAccount && scheduler.now() < weather.hangingUntil,
        onSent: (request, by) => {
          if (request.method === 'POST')
            trace.tell(`${by.name} sends ${request.path} ${JSON.stringify(shown(request.body))}`);
          world.checks.onSent(request, by);
        },
        pause: () => {
          stopInHandshake(world, machine, life);
        },
      });
    trace.tell(`${life.name} starts`);
    startProcess({
      life,
      store,
      wrapBus: (bus) => wrapBus(world, bus, life),
      directory: simulatedDirectory,
      accounts,
      connectionsTo,
      webhookClient: webhookClient(life),
      log: listeningLog(world, life),
      ...{ leaseMs, config: { ...config, notifierShards: sharding.pick(shardCounts) } },
    }).then(
      (process) => {
        running.process = process;
        trace.tell(`${life.name} serves`);
      },
      (error: unknown) => {
        trace.tell(`${life.name} could not start: ${errorCode(error) ?? String(error)}`);
        if (errorCode(error) === undefined) world.complain('start', String(error));
        disasters.restart(running, 1_000);
      },
    );
  };
}

/** It wakes up with the answer to its handshake. One of its clocks may not have counted the time; of both nobody could know. */
function stopInHandshake({ random, trace, faults }: World, machine: Machine, { name }: Life): void {
  const durationMs = random.between(6_000, 60_000);
  const isSuspended = faults.strikes('suspended', random);
  trace.tell(
    `${name} is ${isSuspended ? 'suspended' : 'stopped'} for ${Math.round(durationMs)} ms in a handshake`,
  );
  if (isSuspended) {
    machine.suspend(durationMs);
    // Its clock had run ahead, and is set right as it wakes up: then neither of the two has counted the time.
    if (faults.strikes('set-back-at-waking', random))
      machine.setSkew(machine.skewMs() - durationMs - random.between(5_000, 600_000));
    return;
  }
  machine.pause(durationMs);
  // As of a virtual machine whose host keeps no time for it.
  if (faults.strikes('clock-stood-still', random)) machine.setSkew(machine.skewMs() - durationMs);
}

const storeOf = ({ log, faults, scheduler, weather, partitions }: World, machine: string, life: Life) =>
  createSimulatedStore({
    ...{ log, life, faults, scheduler },
    weather: {
      isDown: () => scheduler.now() < weather.storeDownUntil || partitions.isCut(machine, 'store'),
      areAnswersLost: () => partitions.isCut('store', machine),
    },
  });

const shown = ({ orderNumber, token, amount }: Record<string, unknown> = {}) => ({
  orderNumber,
  token,
  amount,
});

/** Publishing may fail before, after, or in the middle. */
function wrapBus({ faults, weather, scheduler }: World, bus: MessageBus, life: Life): MessageBus {
  const unavailable = () => new BusUnavailable('bus_unavailable', 'The simulated bus does not confirm.');
  return {
    ...bus,
    publish: async (topic, messages) => {
      if (scheduler.now() < weather.busDownUntil) throw unavailable();
      if (faults.strikes('bus-partly-written', life.random)) {
        await bus.publish(topic, messages.slice(0, life.random.whole(0, messages.length)));
        throw unavailable();
      }
      return bus.publish(topic, messages);
    },
  };
}

/** What the code itself rules out is a violation as well. */
function listeningLog(world: World, life: Life): Log {
  const hear = ({ error }: { error?: unknown }, message: string) => {
    if (!(error instanceof Error)) return;
    const code = errorCode(error);
    const isDefect =
      code === 'invariant_violation' ||
      (code === undefined &&
        /^(TypeError|RangeError|ReferenceError|InvariantViolation|ZodError)$/.test(error.name));
    if (isDefect) world.complain('defect', `${life.name}: ${message}: ${error.stack ?? String(error)}`);
  };
  return { debug: () => undefined, info: () => undefined, warn: hear, error: hear };
}
