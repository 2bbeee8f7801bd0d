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

const announcements: Readonly<Record<string, CallSpan['operation']>> = {
  PaymentRequested: 'authorize',
  AttemptStarted: 'authorize',
  CaptureSubmitted: 'capture',
  VoidSubmitted: 'void',
  RefundSubmitted: 'refund',
  PayoutRequested: 'payout',
};

const outcomes: Readonly<Record<string, [CallSpan['operation'], NonNullable<CallSpan['outcome']>]>> = {
  AttemptAccepted: ['authorize', 'accepted'],
  AttemptRefused: ['authorize', 'refused'],
  AttemptNotSent: ['authorize', 'not sent'],
  AttemptNotFound: ['authorize', 'not found'],
  CaptureRefused: ['capture', 'refused'],
  VoidRefused: ['void', 'refused'],
  PaymentApproved: ['capture', 'accepted'],
  PaymentVoided: ['void', 'accepted'],
  RefundAccepted: ['refund', 'accepted'],
  RefundApproved: ['refund', 'accepted'],
  RefundDeclined: ['refund', 'declined'],
  PayoutAccepted: ['payout', 'accepted'],
  PayoutApproved: ['payout', 'accepted'],
  PayoutDeclined: ['payout', 'declined'],
  PayoutNotSent: ['payout', 'not sent'],
  PayoutRefused: ['payout', 'refused'],
};

const lost: Readonly<Record<string, CallSpan['operation']>> = {
  AttemptUnresolved: 'authorize',
  CaptureUnresolved: 'capture',
  VoidUnresolved: 'void',
  RefundUnresolved: 'refund',
  PayoutUnresolved: 'payout',
};

export function callsIn(events: readonly HistoryEvent[]): CallSpan[] {
  const calls: CallSpan[] = [];
  const openOf = (operation: CallSpan['operation']) =>
    calls.findLast((call) => call.operation === operation && call.outcome === undefined);
  for (const { type, at, data } of events) {
    const operation = announcements[type];
    if (operation !== undefined) {
      const number = calls.filter((call) => call.operation === operation).length + 1;
      calls.push({ operation, number, announcedAt: at, sendBy: sendByIn(data), isUnresolved: false });
    }
    const unresolved = lost[type] === undefined ? undefined : openOf(lost[type]);
    const why = reasonIn(data);
    if (unresolved !== undefined) Object.assign(unresolved, { isUnresolved: true }, omitUndefined({ why }));
    const [settled, outcome] = outcomes[type] ?? [];
    const call = settled === undefined ? undefined : openOf(settled);
    if (call !== undefined && outcome !== undefined)
      Object.assign(call, { outcome, settledAt: at }, omitUndefined({ why }));
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
