/** The world of the property tests around one payment, and its gateway: decide, append, remember the announced call. */
import { callRules, type CallWindow } from '../outbound-call/outbound-call.ts';
import { callAnnouncedBy, type AnnouncedCall } from '../payment/announced-call.ts';
import type { PaymentInput, RecordObservation } from '../payment/payment-commands.ts';
import { decide } from '../payment/payment-decide.ts';
import type { Attempt, PaymentEvent, PaymentTerms } from '../payment/payment-events.ts';
import { evolve } from '../payment/payment-evolve.ts';
import { type PaymentState } from '../payment/payment-state.ts';
import type { Ledger, ServicePayment } from './service-model.ts';

export interface World {
  now: number;
  changedAt: number;
  kind: PaymentTerms['kind'];
  history: PaymentEvent[];
  state: PaymentState;
  /** Commands in execution order. */
  commands: PaymentInput[];
  refusals: Set<string>;
  /** Announced calls that this gateway may still send. */
  unsent: AnnouncedCall[];
  /** Sent calls, one entry per send. */
  sent: string[];
  /** Calls in transit that will still take effect. */
  slow: AnnouncedCall[];
  answers: PaymentInput[];
  inquiries: PaymentInput[];
  /** Retrievals, with the number of events at the start of each. */
  snapshots: { observation: RecordObservation; revision: number }[];
  callbacks: PaymentInput[];
  ledger: Ledger;
  /** The provider's next answer is nonsense. */
  mistells: boolean;
  /** Called after each command that was not refused, with its events. */
  onDecided: (command: PaymentInput, events: readonly PaymentEvent[], before: PaymentState) => void;
}

export const createWorld = (kind: PaymentTerms['kind'], onDecided: World['onDecided'] = () => {}): World => ({
  now: 0,
  changedAt: 0,
  kind,
  history: [],
  state: undefined,
  commands: [],
  refusals: new Set(),
  unsent: [],
  sent: [],
  slow: [],
  answers: [],
  inquiries: [],
  snapshots: [],
  callbacks: [],
  ledger: { payments: [], refunds: [], disputes: [] },
  mistells: false,
  onDecided,
});

export const timing = { sendWithin: 1_000, answerWithin: 10_000, quietAfter: 60_000 };

export const planWindow = (now: number): CallWindow => ({
  sendBy: now + timing.sendWithin,
  answerBy: now + timing.answerWithin,
  quietUntil: now + timing.quietAfter,
});

export const planAttempt = (number: number, now: number): Attempt => ({
  number,
  account: 'main',
  providerOrderNumber: `pay_1.${number}`,
  ...planWindow(now),
});

export function nextAttempt(world: World): { nextAttempt?: Attempt } {
  const number = (world.state?.attempt.number ?? 0) + 1;
  return number > callRules.authorize.attemptsMax ? {} : { nextAttempt: planAttempt(number, world.now) };
}

export const picked = <Item>(items: readonly Item[], pick: number): Item | undefined =>
  items[pick % (items.length || 1)];

type Time = Pick<World, 'now'>;

/** Seconds, or longer than a quiet period. */
export const passTime = (world: Time, pick: number): number =>
  (world.now += [500, 500, 5_000, 20_000, 70_000][pick % 5] ?? 0);

/** The token in a callback: none, or one of the provider's first payments. */
const namedBy = (pick: number): { serviceToken?: string } =>
  pick % 3 === 0 ? {} : { serviceToken: `token-${pick % 3}` };
export const deferral = ({ now }: Time, pick: number) =>
  ({ type: 'DeferCallback', ...namedBy(pick), deferredAt: now }) as const;
export function callbackInquiry(pick: number) {
  const { serviceToken } = namedBy(pick);
  return serviceToken === undefined ? undefined : ({ type: 'RecordCallbackInquired', serviceToken } as const);
}
export function failedInquiry({ now }: Time, pick: number) {
  const reason = picked(['no_answer', 'account_missing', 'refused'] as const, pick) ?? 'no_answer';
  return { type: 'RecordInquiryFailed', reason, account: 'main', failedAt: now } as const;
}

/** The provider's payment that the gateway's payment was accepted as. */
export const ownPayment = ({ ledger, state }: World): ServicePayment | undefined =>
  ledger.payments.find(({ serviceToken }) => serviceToken === state?.serviceToken);

/** Executes a command like the gateway: decide, append, and remember the announced call. */
export function execute(world: World, command: PaymentInput): void {
  const before = world.state;
  const decision = decide(before, command);
  if (decision.kind === 'refused') {
    world.refusals.add(decision.refusal.code);
    return;
  }
  append(world, decision.events);
  world.commands.push(command);
  world.onDecided(command, decision.events, before);
}

function append(world: World, events: readonly PaymentEvent[]): void {
  for (const event of events) {
    world.state = evolve(world.state, event);
    world.history.push(event);
    world.changedAt = world.now;
  }
  const call = world.state === undefined ? undefined : callAnnouncedBy(events, world.state);
  if (call !== undefined) world.unsent.push(call);
  // A page is handed out from the recorded state, never from an unrecorded answer.
  const accepted = ownPayment(world);
  if (accepted !== undefined && world.state?.processingUrl !== undefined) accepted.hasPayer = true;
}
