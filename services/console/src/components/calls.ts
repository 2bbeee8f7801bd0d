/** The outbound calls of a history, each from its announcement to its outcome. */
import { omitUndefined } from '@tollgate/service-kit';
import { reasonIn } from './event-reason.ts';

export interface CallSpan {
  operation: 'authorize' | 'capture' | 'void' | 'refund' | 'payout';
  /** Number of the call within its operation, from 1. */
  number: number;
  announcedAt: string;
  /** Latest time of the send. */
  sendBy: string | undefined;
  /** True if its answer was lost. */
  isUnresolved: boolean;
  outcome?: 'accepted' | 'refused' | 'not sent' | 'not found' | 'declined';
  settledAt?: string;
  /** Why it was refused, not sent or lost. */
  why?: string;
}

interface HistoryEvent {
  type: string;
  at: string;
  data: Readonly<Record<string, unknown>>;
}

type Effect = 'announced' | 'lost' | NonNullable<CallSpan['outcome']>;

/** The meaning of each event for a call. */
const effects: Readonly<Record<string, readonly [CallSpan['operation'], Effect]>> = {
  PaymentRequested: ['authorize', 'announced'],
  AttemptStarted: ['authorize', 'announced'],
  AttemptAccepted: ['authorize', 'accepted'],
  AttemptRefused: ['authorize', 'refused'],
  AttemptNotSent: ['authorize', 'not sent'],
  AttemptNotFound: ['authorize', 'not found'],
  AttemptUnresolved: ['authorize', 'lost'],
  CaptureSubmitted: ['capture', 'announced'],
  CaptureRefused: ['capture', 'refused'],
  CaptureUnresolved: ['capture', 'lost'],
  PaymentApproved: ['capture', 'accepted'],
  VoidSubmitted: ['void', 'announced'],
  VoidRefused: ['void', 'refused'],
  VoidUnresolved: ['void', 'lost'],
  PaymentVoided: ['void', 'accepted'],
  RefundSubmitted: ['refund', 'announced'],
  RefundAccepted: ['refund', 'accepted'],
  RefundApproved: ['refund', 'accepted'],
  RefundDeclined: ['refund', 'declined'],
  RefundUnresolved: ['refund', 'lost'],
  PayoutRequested: ['payout', 'announced'],
  PayoutAccepted: ['payout', 'accepted'],
  PayoutApproved: ['payout', 'accepted'],
  PayoutDeclined: ['payout', 'declined'],
  PayoutNotSent: ['payout', 'not sent'],
  PayoutRefused: ['payout', 'refused'],
  PayoutUnresolved: ['payout', 'lost'],
};

export function callsIn(events: readonly HistoryEvent[]): CallSpan[] {
  const calls: CallSpan[] = [];
  for (const { type, at, data } of events) {
    const [operation, effect] = effects[type] ?? [];
    if (operation === undefined || effect === undefined) continue;
    const same = calls.filter((call) => call.operation === operation);
    if (effect === 'announced') {
      const number = same.length + 1;
      calls.push({ operation, number, announcedAt: at, sendBy: sendByIn(data), isUnresolved: false });
      continue;
    }
    const open = same.findLast(({ outcome }) => outcome === undefined);
    const change = effect === 'lost' ? { isUnresolved: true } : { outcome: effect, settledAt: at };
    if (open !== undefined) Object.assign(open, change, omitUndefined({ why: reasonIn(data) }));
  }
  return calls;
}

/** A callback of the Payment Service that caused events. Callbacks without an effect leave none. */
export interface CallbackMark {
  /** Topic, partition and offset of its record. */
  place: string;
  /** Time of the first event it caused. */
  at: string;
  /** The types of the events. */
  led: string[];
}

export function callbacksIn(
  events: readonly (Pick<HistoryEvent, 'type' | 'at'> & { cause: { causationId: string } })[],
): CallbackMark[] {
  const marks = new Map<string, CallbackMark>();
  for (const { type, at, cause } of events) {
    const { causationId: place } = cause;
    if (!place.startsWith('provider.callbacks.')) continue;
    const mark = marks.get(place);
    if (mark === undefined) marks.set(place, { place, at, led: [type] });
    else mark.led.push(type);
  }
  return [...marks.values()];
}

/** A creation is identified by its attempt. */
function sendByIn({ sendBy, attempt }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof sendBy === 'string') return sendBy;
  return typeof attempt === 'object' && attempt !== null && 'sendBy' in attempt
    ? String(attempt.sendBy)
    : undefined;
}
