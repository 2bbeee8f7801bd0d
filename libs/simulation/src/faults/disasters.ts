/** Faults of processes and their surroundings, and how they end. */
import type { FaultKind } from './faults.ts';
import type { LedgerPayment, Outcome } from '../payment-service/ledger.ts';
import type { Life, Machine } from '../world/machine.ts';
import type { Random } from '../world/random.ts';
import type { World } from '../world.ts';

const hour = 3_600_000;

/** Crashes the process of a machine; another one starts later. */
export function restart(world: World, machine: Machine, afterMs: number): void {
  const life = machine.life();
  machine.crash();
  world.scheduler.after(afterMs, `${machine.name} restarts`, () => {
    if (machine.life() !== life || world.isOutage()) return;
    machine.boot();
    world.boot(machine);
  });
}

/** Ends every disaster in progress. */
export function endDisasters(world: World): void {
  Object.assign(world.downUntil, { store: 0, bus: 0, service: 0, account: 0 });
  world.partitions.heal();
  for (const machine of world.machines) machine.setSkew(0);
  settleService(world);
}

/** Repeats a fault of the world at the intervals of this seed, until the faults end. */
export function recur(world: World, random: Random, kind: FaultKind, happen: () => void): void {
  const { scheduler, faults } = world;
  const delayMs = faults.distanceMs(kind, random);
  if (delayMs === undefined) return;
  scheduler.after(delayMs, kind, () => {
    if (faults.haveEnded()) return;
    faults.note(kind);
    happen();
    recur(world, random, kind, happen);
  });
}

/** Starts all recurring disasters. */
export function beginDisasters(world: World): void {
  const { scheduler, faults, trace, downUntil, machines, partitions } = world;
  const random = world.random.fork('disasters');
  const every = (kind: FaultKind, happen: () => void) => recur(world, random, kind, happen);
  const down = (what: keyof World['downUntil'], longestMs: number) => () => {
    const durationMs = random.between(500, longestMs);
    trace.log(`${what} is down for ${Math.round(durationMs / 1_000)} s`);
    downUntil[what] = scheduler.now() + durationMs;
  };

  for (const machine of machines)
    if (faults.strikes('clock-skew', random)) machine.setSkew(random.between(-9_000, 9_000));
  every('crash', () => {
    const machine = random.pick(machines);
    if (!machine.life().isAlive()) return;
    trace.log(`${machine.life().name} crashes`);
    restart(world, machine, random.pick([100, 2_000, 20_000, 60_000]));
  });
  every('pause', () => {
    const machine = random.pick(machines);
    const durationMs = random.pick([1_000, 8_000, 20_000, 60_000]) * random.between(0.5, 1.5);
    stopMachine(world, machine, { durationMs });
  });
  every('clock-step', () =>
    stepClock(world, random.pick(machines), random.pick([-hour, hour, -8_000, 8_000, 0])),
  );
  every('partition', () => {
    const cut = partitions.cut(random.pick(machines).name, random);
    trace.log(`nothing gets through between ${cut}`);
  });
  every('store-down', down('store', 40_000));
  every('bus-down', down('bus', 60_000));
  every('service-down', down('service', 400_000));
  every('account-hangs', down('account', 300_000));
  every('status-revised', () => revise(world, anyRevisable(world, random)));
  every('refunded-in-console', () => refundInConsole(world, random));
  every('disputed', () => dispute(world, random));
  every('payout-revised', () => revisePayout(world, random));
  every('amount-revised', () => reviseAmount(world, random));
}

export function stepClock({ trace }: World, machine: Machine, skewMs: number): void {
  trace.log(`the clock of ${machine.name} is set ${skewMs / 1_000} s ahead`);
  machine.setSkew(skewMs);
}

/**
 * Stops a process, or suspends its whole machine. Only one of its two clocks may miss the pause: if both did, it would be
 * undetectable.
 */
function stopMachine(
  { random, trace, faults }: World,
  machine: Machine,
  { durationMs, place = '' }: { durationMs: number; place?: string },
): void {
  const isSuspended = faults.strikes('suspended', random);
  const how = isSuspended ? 'suspended' : 'stopped';
  trace.log(`${machine.life().name} is ${how} for ${Math.round(durationMs)} ms ${place}`);
  if (isSuspended) {
    machine.suspend(durationMs);
    // The clock was ahead and is corrected on resume, so neither clock has counted the pause.
    if (faults.strikes('set-back-at-waking', random))
      machine.setSkew(machine.skewMs() - durationMs - random.between(5_000, 600_000));
    return;
  }
  machine.pause(durationMs);
  // Like a virtual machine whose clock stops with it.
  if (faults.strikes('clock-stood-still', random)) machine.setSkew(machine.skewMs() - durationMs);
}

/** Host of a process; undefined for the machine of an operator. */
export const hostOf = ({ machines }: World, life: Life): Machine | undefined =>
  machines.find(({ name }) => name === life.machine);

export function stopInHandshake(world: World, life: Life): void {
  const host = hostOf(world, life);
  const durationMs = life.random.between(6_000, 60_000);
  if (host !== undefined) stopMachine(world, host, { durationMs, place: 'in a handshake' });
}

/** Pauses a process after it has announced its next step, so that others act on the announcement first. */
export function stopBehindAppend(world: World, life: Life, stream: string): void {
  const host = hostOf(world, life);
  // Views, topic records and leases are frequent and announce no call.
  const isDerived = /^(view|checkpoint|lease|bus)/.test(stream);
  if (host === undefined || isDerived || !world.faults.strikes('pause-behind-append', life.random)) return;
  const durationMs = life.random.pick([2_000, 8_000, 20_000]);
  world.trace.log(`${life.name} is stopped for ${durationMs} ms behind an append to ${stream}`);
  host.pause(durationMs);
}

/** One of the items; undefined if there are none. */
const anyOf = <Item>(random: Random, items: readonly Item[]): Item | undefined =>
  items.length === 0 ? undefined : random.pick(items);

const isApproved = ({ status, isStranger }: LedgerPayment): boolean => status === 'approved' && !isStranger;

/** Reverses the final status of a payment. */
export function revise({ ledger, books, trace }: World, payment: LedgerPayment | undefined): void {
  if (payment === undefined || !isRevisable(payment)) return;
  const to = payment.status === 'approved' ? 'declined' : 'approved';
  // A payment whose page was never shown is never paid.
  if (to === 'approved' && books.byOrderNumber(payment.orderNumber)?.serviceToken !== payment.token) return;
  trace.log(`the service revises ${payment.orderNumber} from ${payment.status} to ${to}`);
  ledger.revise(payment, to);
}

export const anyRevisable = ({ ledger }: World, random: Random): LedgerPayment | undefined =>
  anyOf(random, ledger.payments.filter(isRevisable));

/** True for a final status without refunds. */
export const isRevisable = ({ status, refundedAmount, isStranger }: LedgerPayment): boolean =>
  ['expired', 'declined', 'approved'].includes(status) && refundedAmount === 0 && !isStranger;

function revisePayout({ ledger, trace, saw }: World, random: Random): void {
  const final = ledger.payouts.filter(({ status, revisions }) => status !== 'pending' && revisions < 2);
  const payout = anyOf(random, final);
  if (payout === undefined) return;
  const isUnderWayAgain = random.chance(0.4);
  const to = isUnderWayAgain ? 'pending' : payout.status === 'approved' ? 'declined' : 'approved';
  trace.log(`the service revises ${payout.orderNumber} from ${payout.status} to ${to}`);
  saw(`a payout was revised to: ${to}`);
  ledger.revise(payout, to);
}

function reviseAmount({ ledger, trace, saw }: World, random: Random): void {
  const isBeingRefunded = ({ token }: { token: string }) =>
    ledger.refunds.some(({ payment, status }) => payment === token && status === 'pending');
  const approved = ledger.payments.filter(
    (each) => isApproved(each) && each.revisions < 3 && !isBeingRefunded(each),
  );
  const payment = anyOf(random, approved);
  if (payment === undefined) return;
  const amount = payment.refundedAmount + random.whole(1, payment.amount);
  if (amount === payment.amount) return;
  trace.log(`the service revises ${payment.orderNumber} from ${payment.amount} to ${amount}`);
  saw('the amount of an approved payment was revised');
  ledger.reviseAmount(payment, amount);
}

function refundInConsole({ ledger, trace }: World, random: Random): void {
  const payment = anyOf(random, ledger.payments.filter(isApproved));
  if (payment === undefined) return;
  const amount = random.whole(1, payment.amount);
  trace.log(`refund of ${amount} of ${payment.orderNumber} in the provider's console`);
  ledger.refundInConsole(payment, amount);
}

/** A customer's bank opens a dispute about a payment that took money, and decides it later, sometimes twice. */
function dispute({ ledger, scheduler, faults, pace, trace, saw }: World, random: Random): void {
  const payment = anyOf(random, ledger.payments.filter(isApproved));
  if (payment === undefined) return;
  const opened = ledger.openDispute(payment, random.whole(1, payment.amount));
  trace.log(`the bank of the customer of ${payment.orderNumber} opens dispute ${opened.id}`);
  saw('a dispute was opened');
  const decision = () => random.pick(['approved', 'declined'] as const);
  // Possibly followed by the next instance of the dispute, with the same or another decision.
  const statuses: Outcome[] = random.chance(0.4) ? [decision(), 'pending', decision()] : [decision()];
  const decideNext = (): void =>
    void scheduler.after(pace * random.between(1_000, 240_000), 'the bank decides', () => {
      const status = statuses.shift();
      if (status === undefined || faults.haveEnded()) return;
      trace.log(`the bank decides dispute ${opened.id}: ${status}`);
      ledger.changeDispute(opened, status);
      decideNext();
    });
  decideNext();
}

/** When the service has decided everything, after the end of the faults. @unit milliseconds */
const lastMs = 5_400_000;
/** A payment approved again after a restore and a full day. */
const dayLaterMs = 24 * hour + 1_800_000;

/** Customers and the service finish every open operation. */
function settleService({ ledger, scheduler, random: from }: World): void {
  const random = from.fork('settling');
  const outcome = () => (random.chance(0.8) ? 'approved' : 'declined');
  const settle = (afterMs: number) => {
    for (const payment of ledger.payments) ledger.expire(payment);
    for (const refund of ledger.refunds) ledger.decideRefund(refund, outcome());
    // Late enough that a read is no longer stale and an inquiry about final payments has seen a revision.
    for (const payout of ledger.payouts)
      if (payout.revisions === 0 || afterMs >= lastMs) ledger.decidePayout(payout, outcome());
  };
  // Includes attempts repeated an hour later because their account was paused after the restart.
  for (const afterMs of [20_000, 90_000, 240_000, 600_000, 1_800_000, 3_600_000, lastMs, dayLaterMs])
    scheduler.after(afterMs, 'the service settles', () => settle(afterMs));
}

/** True if nothing is open at the service any more. */
export const isServiceSettled = ({ ledger }: World): boolean =>
  [...ledger.payments, ...ledger.refunds, ...ledger.payouts].every(
    ({ status }) => status !== 'init' && status !== 'pending',
  );

const peers = ['store', 'service', 'teams', 'receivers'];
const durationsMs = [2_000, 20_000, 120_000, 400_000];

/** Network partitions between two parties, in one direction or both. */
export type Partitions = ReturnType<typeof createPartitions>;

export function createPartitions(now: () => number) {
  const until = new Map<string, number>();
  return {
    /** True if messages from one to the other are lost now; one of the two is a machine, by its name. */
    isCut: (from: string, to: string): boolean => now() < (until.get(`${from}>${to}`) ?? 0),
    /** Cuts the connection between a machine and one of its peers. Returns a description for the trace. */
    cut: (machine: string, random: Random): string => {
      const peer = random.pick(peers);
      const ways = random.pick([['there'], ['back'], ['there', 'back'], ['there', 'back']]);
      const durationMs = random.pick(durationsMs) * random.between(0.5, 1.5);
      if (ways.includes('there')) until.set(`${machine}>${peer}`, now() + durationMs);
      if (ways.includes('back')) until.set(`${peer}>${machine}`, now() + durationMs);
      return `${machine} and ${peer} (${ways.join(' and ')}) for ${Math.round(durationMs / 1_000)} s`;
    },
    heal: () => until.clear(),
  };
}
