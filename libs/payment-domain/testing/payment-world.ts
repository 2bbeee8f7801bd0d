/**
 * A small world around one payment for property tests: the Payment Service with its ledger, calls whose answers are
 * lost, late or repeated, pictures that are delivered in any order, and a gateway that keeps the rule for calling the
 * service: an announced call is sent by whose append won, before `sendBy`, once.
 */
import type { CreationOutcome, ObservedPayment, PaymentCommand } from '../src/payment-commands.ts';
import { attemptsMax, decide } from '../src/payment-decide.ts';
import type { Attempt, PaymentEvent, PaymentTerms } from '../src/payment-events.ts';
import { evolve, reservedAmount, type PaymentState } from '../src/payment-state.ts';
import { requestPayment, terms } from './samples.ts';

export interface ServicePayment {
  serviceToken: string;
  orderNumber: string;
  status: 'init' | 'pending' | 'approved' | 'declined' | 'refunded' | 'expired';
  amount: number;
  heldAmount: number;
  refundedAmount: number;
  /** Somebody may pay: the page was handed out, or a card was sent along. */
  hasPayer: boolean;
}

/** One thing that happens in the world. `pick` chooses among what there is; `size` is an amount or a time. */
export interface Happening {
  kind: HappeningKind;
  pick: number;
  size: number;
}
export const happeningKinds = [
  'request',
  'send',
  'effect of a slow call',
  'answer arrives',
  'crash',
  'look begins',
  'look is recorded',
  'picture is taken',
  'picture is recorded',
  'command is repeated',
  'time passes',
  'customer acts',
  'payment expires',
  'operator revises',
  'operator refunds',
  'refund is submitted',
  'refund is carried out',
  'payment goes missing',
] as const;
export type HappeningKind = (typeof happeningKinds)[number];

export interface World {
  now: number;
  kind: PaymentTerms['kind'];
  history: PaymentEvent[];
  state: PaymentState;
  /** Commands in the order in which they were carried out. */
  commands: PaymentCommand[];
  /** Announced calls that this world's gateway may still send. */
  unsent: Attempt[];
  /** Calls that are on their way and will still take effect. */
  slow: Attempt[];
  answers: PaymentCommand[];
  looks: PaymentCommand[];
  pictures: ObservedPayment[];
  service: ServicePayment[];
  /** Refunds of ours that the service has decided, by their tokens: true where it gave the money back. */
  refunds: Map<string, boolean>;
  /** Called with each command and the events that it gave, after they were applied. */
  onDecided: (command: PaymentCommand, events: readonly PaymentEvent[], before: PaymentState) => void;
}

export const createWorld = (kind: PaymentTerms['kind'], onDecided: World['onDecided'] = () => {}): World => ({
  now: 0,
  kind,
  history: [],
  state: undefined,
  commands: [],
  unsent: [],
  slow: [],
  answers: [],
  looks: [],
  pictures: [],
  service: [],
  refunds: new Map(),
  onDecided,
});

const timing = { sendWithin: 1_000, answerWithin: 10_000, quietAfter: 60_000 };

const planAttempt = (number: number, now: number): Attempt => ({
  number,
  account: 'main',
  providerOrderNumber: `pay_1.${number}`,
  sendBy: now + timing.sendWithin,
  answerBy: now + timing.answerWithin,
  quietUntil: now + timing.quietAfter,
});

const picked = <Item>(items: readonly Item[], pick: number): Item | undefined =>
  items[pick % (items.length || 1)];

/** Carries out a command as the gateway does: decide, append, and remember the calls that this announced. */
export function execute(world: World, command: PaymentCommand): void {
  const before = world.state;
  const decision = decide(before, command);
  if (decision.kind === 'refused') return;
  append(world, decision.events);
  world.commands.push(command);
  world.onDecided(command, decision.events, before);
}

function append(world: World, events: readonly PaymentEvent[]): void {
  for (const event of events) {
    world.state = evolve(world.state, event);
    world.history.push(event);
    if (event.type === 'PaymentRequested' || event.type === 'AttemptStarted')
      world.unsent.push(event.data.attempt);
  }
  // A page is handed out by what is on record, never by an answer that was not recorded.
  const { serviceToken, processingUrl } = world.state ?? {};
  const accepted = world.service.find((payment) => payment.serviceToken === serviceToken);
  if (accepted !== undefined && processingUrl !== undefined) accepted.hasPayer = true;
}

function nextAttempt(world: World): { nextAttempt?: Attempt } {
  const number = (world.state?.attempt.number ?? 0) + 1;
  return number > attemptsMax ? {} : { nextAttempt: planAttempt(number, world.now) };
}

/** The service carries out a call that creates a payment. */
function takeEffect(world: World, attempt: Attempt, status: ServicePayment['status']): ServicePayment {
  const payment = {
    serviceToken: `token-${world.service.length + 1}`,
    orderNumber: attempt.providerOrderNumber,
    status,
    amount: terms.amount,
    heldAmount: 0,
    refundedAmount: 0,
    hasPayer: world.kind !== 'hosted',
  };
  world.service.push(payment);
  return payment;
}

function answerTo(world: World, attempt: Attempt, outcome: CreationOutcome): void {
  world.answers.push({
    type: 'RecordCreationOutcome',
    attemptNumber: attempt.number,
    outcome,
    ...nextAttempt(world),
  });
}

const acceptedAs = ({ serviceToken }: ServicePayment): CreationOutcome => ({
  kind: 'accepted',
  serviceToken,
  processingUrl: `https://pay.example/${serviceToken}`,
});

const refusedFor = (kind: string): CreationOutcome => ({
  kind: 'refused',
  errors: [{ code: 'a_code', kind }],
});

function send(world: World, pick: number): void {
  const attempt = world.unsent.pop();
  if (attempt === undefined) return;
  if (world.now >= attempt.sendBy) return answerTo(world, attempt, { kind: 'not-sent', reason: 'too late' });
  const status =
    world.kind === 'hosted' ? 'init' : ((['approved', 'declined', 'pending'] as const)[pick % 3] ?? 'init');
  const accept = () => answerTo(world, attempt, acceptedAs(takeEffect(world, attempt, status)));
  const ways = [
    accept,
    accept,
    accept,
    () => answerTo(world, attempt, refusedFor('processing_error')),
    () => answerTo(world, attempt, refusedFor('settings_error')),
    () => answerTo(world, attempt, { kind: 'not-sent', reason: 'connection refused' }),
    () => answerTo(world, attempt, { kind: 'unknown', reason: 'lost before the effect' }),
    () => {
      takeEffect(world, attempt, status);
      answerTo(world, attempt, { kind: 'unknown', reason: 'lost after the effect' });
    },
    () => {
      world.slow.push(attempt);
      answerTo(world, attempt, { kind: 'unknown', reason: 'timeout' });
    },
  ];
  picked(ways, pick)?.();
}

// At any time: even a quiet period that was too short must lead to no second charge.
function slowEffect(world: World): void {
  const attempt = world.slow.pop();
  if (attempt === undefined) return;
  const payment = takeEffect(world, attempt, world.kind === 'hosted' ? 'init' : 'approved');
  answerTo(world, attempt, acceptedAs(payment));
}

const pictureOf = (payment: ServicePayment): ObservedPayment => ({
  serviceToken: payment.serviceToken,
  status: payment.status,
  amount: payment.amount,
  currency: terms.currency,
  orderNumber: payment.orderNumber,
  heldAmount: payment.heldAmount,
  refundedAmount: payment.refundedAmount,
  processingUrl: `https://pay.example/${payment.serviceToken}`,
});

export function beginLook(world: World): PaymentCommand | undefined {
  if (world.state === undefined) return undefined;
  const { number, providerOrderNumber } = world.state.attempt;
  const found = world.service.filter(({ orderNumber }) => orderNumber === providerOrderNumber).map(pictureOf);
  return { type: 'RecordLookup', attemptNumber: number, found, lookedAt: world.now, ...nextAttempt(world) };
}

function customerActs(payment: ServicePayment, pick: number): void {
  if (!payment.hasPayer || (payment.status !== 'init' && payment.status !== 'pending')) return;
  const ways: Partial<ServicePayment>[] = [
    { status: 'pending' },
    { status: 'pending', heldAmount: payment.amount },
    { status: 'approved', heldAmount: 0 },
    { status: 'declined', heldAmount: 0 },
  ];
  Object.assign(payment, picked(ways, pick));
}

function operatorRevises(payment: ServicePayment, size: number): void {
  if (!payment.hasPayer) return;
  if (payment.status === 'approved') payment.status = 'declined';
  else if (payment.status === 'declined' || payment.status === 'expired') {
    payment.status = 'approved';
    payment.amount = Math.max(payment.refundedAmount + 1, size % 2_000);
  }
}

/** The service gives money back, as far as there is any left. */
function refundAtService(payment: ServicePayment, amount: number): boolean {
  if (payment.status !== 'approved' || payment.refundedAmount + amount > payment.amount) return false;
  payment.refundedAmount += amount;
  if (payment.refundedAmount === payment.amount) payment.status = 'refunded';
  return true;
}

// There is no command for refunds yet: the events are appended under the rule that it will have to keep.
function submitRefund(world: World, size: number): void {
  const { state } = world;
  if (state?.phase !== 'approved' || state.refunds.some((refund) => refund.state === 'unresolved')) return;
  const amount = 1 + (size % 1_000);
  if (state.refundedAmount + reservedAmount(state) + amount > state.approvedAmount) return;
  const refundToken = `refund-${state.refunds.length + 1}`;
  const times = { sendBy: world.now + 1, answerBy: world.now + 2, quietUntil: world.now + 3 };
  append(world, [
    { type: 'RefundSubmitted', data: { refundToken, amount, fingerprint: refundToken, ...times } },
  ]);
}

function carryOutRefund(world: World, pick: number): void {
  const { state } = world;
  const open =
    state?.refunds.filter((refund) => refund.state === 'submitted' || refund.state === 'unresolved') ?? [];
  const refund = picked(open, pick);
  if (refund === undefined) return;
  const { refundToken } = refund;
  if (refund.state === 'submitted' && pick % 4 === 0)
    return append(world, [{ type: 'RefundUnresolved', data: { refundToken, reason: 'timeout' } }]);
  const known = world.refunds.get(refundToken);
  const payment = world.service.find(({ serviceToken }) => serviceToken === state?.serviceToken);
  const isDone = known ?? (payment !== undefined && refundAtService(payment, refund.amount));
  world.refunds.set(refundToken, isDone);
  // The service has carried it out, and the answer is on its way.
  if (known === undefined && pick % 2 === 1) return;
  append(world, [
    isDone
      ? { type: 'RefundApproved', data: { refundToken } }
      : { type: 'RefundDeclined', data: { refundToken, errors: [] } },
  ]);
}

/** Lets one thing happen; nothing where there is nothing that it could happen to. */
export function happen(world: World, { kind, pick, size }: Happening): void {
  const payment = picked(world.service, pick);
  const recorded = (command: PaymentCommand | undefined) => {
    if (command !== undefined) execute(world, command);
  };
  const ways: Record<HappeningKind, () => unknown> = {
    request: () =>
      recorded(requestPayment({ terms: { ...terms, kind: world.kind }, attempt: planAttempt(1, world.now) })),
    send: () => send(world, pick),
    'effect of a slow call': () => slowEffect(world),
    'answer arrives': () => recorded(picked(world.answers, pick)),
    crash: () => {
      world.unsent = [];
    },
    'look begins': () => {
      const look = beginLook(world);
      if (look !== undefined) world.looks.push(look);
    },
    'look is recorded': () => recorded(picked(world.looks, pick)),
    'picture is taken': () => payment && world.pictures.push(pictureOf(payment)),
    'picture is recorded': () => {
      const observed = picked(world.pictures, pick);
      if (observed !== undefined) recorded({ type: 'RecordObservation', observed });
    },
    'command is repeated': () => recorded(picked(world.commands, pick)),
    'time passes': () => {
      world.now += [500, 500, 5_000, 20_000, 70_000][pick % 5] ?? 0;
    },
    'customer acts': () => payment && customerActs(payment, size),
    'payment expires': () => {
      if (payment?.status === 'init' || payment?.status === 'pending')
        Object.assign(payment, { status: 'expired', heldAmount: 0 });
    },
    'operator revises': () => payment && operatorRevises(payment, size),
    'operator refunds': () => payment && refundAtService(payment, 1 + (size % payment.amount)),
    'refund is submitted': () => submitRefund(world, size),
    'refund is carried out': () => carryOutRefund(world, pick),
    'payment goes missing': () =>
      payment && execute(world, { type: 'RecordMissing', serviceToken: payment.serviceToken }),
  };
  ways[kind]();
}

/** The faults end: nobody waits any more, every refund ends, every payment of the service gets its final status, and all is looked at. */
export function settle(world: World): void {
  world.unsent = [];
  world.slow = [];
  // Each attempt may be looked for, given up and followed by another: bounded by the attempts there are.
  for (let round = 0; round <= attemptsMax; round += 1) {
    world.now += timing.quietAfter;
    const look = beginLook(world);
    if (look !== undefined) execute(world, look);
    while (world.unsent.length > 0) happen(world, { kind: 'send', pick: 0, size: 0 });
    for (const answer of world.answers) execute(world, answer);
  }
  while (world.state?.refunds.some(({ state }) => state === 'submitted' || state === 'unresolved'))
    carryOutRefund(world, 1);
  for (const payment of world.service)
    if (payment.status === 'init' || payment.status === 'pending') payment.status = 'expired';
  for (const payment of world.service)
    execute(world, { type: 'RecordObservation', observed: pictureOf(payment) });
}
