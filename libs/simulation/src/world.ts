/** One run of the simulated world under one seed: a safety phase in which everything fails, then a healing phase. */
import type { RecordedEvent } from '@tollgate/event-store';
import { addMachines } from './world/boot.ts';
import { type Broker, createBroker } from './world/broker.ts';
import { createAccounting } from './checks/accounting.ts';
import { comparePositions } from './checks/position-sums.ts';
import type { Books } from './checks/books.ts';
import { createCallbackSender } from './faults/callbacks.ts';
import { createDisasters } from './faults/disasters.ts';
import { type EventLog, createEventLog } from './world/event-log.ts';
import { type Faults, createFaults, wasClockStepped } from './faults/faults.ts';
import type { Checks, Violation } from './checks/invariants.ts';
import { type Machine, epochMs } from './world/machine.ts';
import { type Ledger, createLedger } from './payment-service/ledger.ts';
import { type RulesOfTeams, drawMoneyRules } from './checks/money-rules.ts';
import { type Partitions, createPartitions } from './world/partitions.ts';
import { lengthOf, live } from './phases.ts';
import type { GatewayProcess } from './world/process.ts';
import { type Random, createRandom } from './world/random.ts';
import { type WebhookChecks, createWebhookChecks } from './checks/webhooks.ts';
import { type Scheduler, createScheduler } from './world/scheduler.ts';
import { type Trace, createTrace } from './world/trace.ts';

export interface RunOptions {
  seed: number | string;
  /** Keeps every line of the story. */
  isWhole?: boolean;
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
  /** What bounds each team's money. */
  rulesOf: RulesOfTeams;
  trace: Trace;
  faults: Faults;
  log: EventLog;
  ledger: Ledger;
  books: Books;
  checks: Checks;
  machines: readonly RunningMachine[];
  partitions: Partitions;
  /** The store was lost, and an earlier one took its place. */
  isRestored(): boolean;
  /** Takes account anew, of what is on record after that. */
  beginAnew(): void;
  /** Both processes are gone, and nobody starts them. */
  isOutage(): boolean;
  weather: {
    storeDownUntil: number;
    busDownUntil: number;
    serviceDownUntil: number;
    hangingUntil: number;
    hangingAccount: string;
  };
  /** The public topics. */
  broker: Broker;
  webhooks: WebhookChecks;
  saw(path: string): void;
  complain(invariant: string, text: string): void;
  hasFailed(): boolean;
  boot(machine: RunningMachine): void;
}

const sendWithinMs = 5_000;

const fairWeather = {
  storeDownUntil: 0,
  busDownUntil: 0,
  serviceDownUntil: 0,
  hangingUntil: 0,
  hangingAccount: 'other',
};

/** Runs a seed to its end, or to its first violation. */
export async function runSeed({ seed, isWhole = false }: RunOptions): Promise<RunResult> {
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
  if (!world.hasFailed()) await comparePositions(world);
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
  const faults = createFaults(random.fork('faults'), pace);
  const complain = (invariant: string, text: string) => {
    trace.tell(`VIOLATION of ${invariant}: ${text}`);
    violations.push({ invariant, text, atMs: scheduler.now() });
  };
  const saw = (path: string) => void paths.set(path, (paths.get(path) ?? 0) + 1);
  const trueTime = () => Math.floor(epochMs + scheduler.now());
  const log = createEventLog(trueTime);
  log.onEvent((event) => hear(world, event));
  const ledger = createLedger(trueTime, random.fork('ledger'), (changed) => {
    trace.tell(`service: ${changed.orderNumber} ${changed.type} is ${changed.status}`);
    callbacks.tell(changed);
    world.checks.onLedgerChanged();
  });
  const rulesOf = drawMoneyRules(random.fork('money rules'));
  const isReviewByTwo = random.fork('reviews').chance(0.5);
  const { showsDisputedPayments, isBare } = faults;
  const accounting = createAccounting({
    now: scheduler.now,
    ledger,
    log,
    sendWithinMs,
    isReviewByTwo,
    rulesOf,
    complain,
    showsDisputedPayments,
    isBare,
    wasClockWrong: () => wasClockStepped(faults),
  });
  const account = accounting.begin();
  const isRestored = accounting.hasBegunAnew;
  const world: World = {
    ...origin,
    ...account,
    isReviewByTwo,
    rulesOf,
    faults,
    log,
    ledger,
    complain,
    saw,
    machines: [],
    partitions: createPartitions(scheduler.now),
    isOutage: () => false,
    webhooks: createWebhookChecks({ ...account, complain, saw, faults, isRestored }),
    weather: { ...fairWeather },
    broker: createBroker('kafka.sim'),
    hasFailed: () => violations.length > 0,
    boot: () => undefined,
    isRestored,
    // The operator sets another prefix of the topics, as after every restore.
    beginAnew: () =>
      void Object.assign(world, accounting.begin(), { broker: createBroker('kafka.sim/restored.') }),
  };
  const callbacks = createCallbackSender(world);
  return world;
}

/** Whoever keeps account of what is recorded, in this order. */
function hear({ trace, books, webhooks, checks, scheduler, saw }: World, event: RecordedEvent): void {
  const { stream, revision, type, data } = event;
  if (isHousekeeping(stream)) return;
  if (/^(payment|payout|dispute)-/.test(stream)) trace.tell(`${stream} #${revision} ${type}`);
  books.apply(event, scheduler.now());
  webhooks.onRecorded(event);
  checks.onRecorded(event);
  if (type === 'ReviewOpened') saw(`review: ${reviewIn(data)}`);
  if (type !== 'FinalStatusRevised') return;
  const { from, to } = data as { from?: string; to?: string };
  if (to === 'pending') saw(`what was ${from} is pending again`);
}

/** Nine events of ten, and none about money. */
const isHousekeeping = (stream: string): boolean => stream.startsWith('lease-') || stream === 'members';

/** Its code, of a discrepancy the kind. */
function reviewIn(data: unknown): string {
  const { code = '', discrepancy } = data as { code?: string; discrepancy?: { kind: string } };
  return discrepancy?.kind ?? code;
}
