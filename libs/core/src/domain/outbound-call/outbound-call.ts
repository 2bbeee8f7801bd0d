/**
 * One outbound call that moves money, from its announcement until its outcome is known. Every operation uses this:
 *
 *     announced ── answer ──► accepted | refused, confirmed by an inquiry | not sent
 *         └── no answer, or no confirmation ──► unresolved ── inquiry ──► effect found, or absent after the quiet period
 *
 * Operations differ as data: their events ({@link CallInFlight}), the number of attempts, and the review that opens if no
 * inquiry can settle the call ({@link callRules}).
 */
import type { ApiError } from '../money.ts';
import { z } from 'zod';
import { unreachable } from '../invariant.ts';
import { cut, errorsMax, instantSchema } from '../values.ts';

/** When an announced call may be sent, and until when its outcome may still change. */
export const callWindowSchema = z.object({
  /** The call may be sent only before this time. */
  sendBy: instantSchema,
  /** The sender has stopped waiting by this time. */
  answerBy: instantSchema,
  /** From this time on, "not found" means that the call never took effect. */
  quietUntil: instantSchema,
});
export type CallWindow = z.infer<typeof callWindowSchema>;

export const windowOf = ({ sendBy, answerBy, quietUntil }: CallWindow): CallWindow => ({
  sendBy,
  answerBy,
  quietUntil,
});

/** Time limits of a call, milliseconds. */
export interface CallTimes {
  /** Maximum time from the announcement to the sending. An older announced call is never sent. */
  sendWithinMs: number;
  /** The client's deadline for one call. */
  callDeadlineMs: number;
  /** Maximum time that the provider may work on a received request, with a margin for slow networks. */
  quietMs: number;
}

/** From the announcement until absence proves that the call had no effect, milliseconds. */
export const quietPeriodMs = ({ sendWithinMs, callDeadlineMs, quietMs }: CallTimes): number =>
  sendWithinMs + callDeadlineMs + quietMs;

/** The window of a call announced at `now`. */
export function windowAt(now: number, times: CallTimes): CallWindow {
  const sendBy = now + times.sendWithinMs;
  const answerBy = sendBy + times.callDeadlineMs;
  return { sendBy, answerBy, quietUntil: answerBy + times.quietMs };
}

/** Maximum wait of a caller for the outcome of a call, milliseconds. */
export const waitMaxMs = 5_000;

export type CallOperation = 'authorize' | 'capture' | 'void' | 'refund' | 'payout';

const days = 24 * 60 * 60 * 1000;

/**
 * `attemptsMax`: calls for one request, including the first; default one. `review`: opened if the effect is absent after the
 * quiet period and no further attempt is left. `decisionMs`: how long the provider may take to decide an accepted call
 * before the review opens.
 */
export const callRules = {
  /** Only a hosted payment is attempted again: its customer never received the first page. */
  authorize: { attemptsMax: 3, review: 'attempt_not_found' },
  capture: { attemptsMax: 5, review: 'capture_unresolved' },
  void: { attemptsMax: 5, review: 'void_unresolved' },
  refund: { review: 'refund_unresolved', decisionMs: 3 * days },
  /** A second call may pay twice, and a payout is rarely recovered. */
  payout: { review: 'payout_not_found' },
} as const satisfies Record<CallOperation, { attemptsMax?: number; review: string; decisionMs?: number }>;

/** What is known of a call, by the provider's classification. */
export type CallOutcome<Answer> =
  | ({ kind: 'accepted' } & Answer)
  | CallRefused
  /** No byte was sent; or, if `isAnswered`, the provider answered that it was too busy. */
  | { kind: 'not-sent'; reason: string; isAnswered?: boolean }
  /** With errors: refused, and no inquiry has confirmed that yet. */
  | { kind: 'unknown'; reason: string; errors?: ApiError[] };

/** An answer without effect, which an inquiry must confirm: it may answer a second delivery. */
export interface CallRefused {
  kind: 'refused';
  errors: ApiError[];
  /** The provider refuses our account, not this request: another account may succeed. */
  isAccountRefused?: boolean;
}

export const refusedFor = (errors: readonly ApiError[]): CallRefused => ({
  kind: 'refused',
  errors: [...errors],
});

export const endReasons = ['refused', 'not-sent', 'declined', 'resolved'] as const;
export type EndReason = (typeof endReasons)[number];

/** A call without an outcome, and the events of each possible outcome. */
export interface CallInFlight<Event, Answer> extends CallWindow {
  /** True once its outcome is recorded as unknown. */
  isUnresolved: boolean;
  unresolved(reason: string, errors?: ApiError[]): Event;
  accepted(answer: Answer): Event[];
  refused(refused: CallRefused): Event[];
  notSent(reason: string, isAnswered: boolean): Event[];
}

/** The events that follow the outcome of a call. */
export function endCall<Event, Answer>(
  call: CallInFlight<Event, Answer>,
  outcome: CallOutcome<Answer>,
): Event[] {
  switch (outcome.kind) {
    case 'accepted':
      return call.accepted(outcome);
    case 'refused':
      return call.refused({ ...outcome, errors: outcome.errors.slice(0, errorsMax) });
    case 'not-sent':
      return call.notSent(cut(outcome.reason), outcome.isAnswered === true);
    case 'unknown':
      return leaveUnresolved(call, outcome.reason, outcome.errors?.slice(0, errorsMax));
    default:
      return unreachable(outcome);
  }
}

export const leaveUnresolved = <Event>(
  call: Pick<CallInFlight<Event, never>, 'isUnresolved' | 'unresolved'>,
  reason: string,
  errors?: ApiError[],
): Event[] => (call.isUnresolved ? [] : [call.unresolved(cut(reason), errors)]);

/** The result of an inquiry about a call without an outcome. */
export interface CallInquiry<Event> {
  /** Start of the inquiry, milliseconds since the Unix epoch. */
  inquiredAt: number;
  /** Events of the effect; undefined if none is found. */
  effect: readonly Event[] | undefined;
  /** The events if it is permanently absent. */
  absent: () => readonly Event[];
  /** Time beyond the quiet period in which absence proves nothing, milliseconds. */
  patienceMs?: number;
}

/** The events that follow an inquiry. Time alone never turns unknown into failed: absence counts from `quietUntil` on. */
export function settleCall<Event>(
  call: Pick<CallInFlight<Event, never>, 'isUnresolved' | 'unresolved' | 'answerBy' | 'quietUntil'>,
  { inquiredAt, effect, absent, patienceMs = 0 }: CallInquiry<Event>,
): Event[] {
  if (isAnswerDue(call, inquiredAt)) return [];
  const unresolved = leaveUnresolved(call, 'no outcome was recorded');
  if (effect !== undefined) return [...unresolved, ...effect];
  return inquiredAt < call.quietUntil + patienceMs ? unresolved : [...unresolved, ...absent()];
}

/** Allowed lag of the provider's clock, milliseconds. */
const clockToleranceMs = 5 * 60 * 1000;

/** Origin of an operation found under our number; missing fields prove nothing. */
export interface Origin {
  /** Milliseconds since the Unix epoch. */
  createdAt?: number;
  /** False if its callbacks go elsewhere. */
  hasOurCallback?: boolean;
}

/**
 * False if this call cannot have made it: it predates the announcement, or its callbacks go elsewhere. Another installation,
 * or an earlier one on the same account, may have used our number.
 */
export const mayBeMadeBy = (
  { sendBy }: Pick<CallWindow, 'sendBy'>,
  { createdAt = sendBy, hasOurCallback = true }: Origin,
): boolean => hasOurCallback && createdAt >= sendBy - clockToleranceMs;

/** Review evidence for an operation under our number that our call cannot have made. */
export const originEvidence = ({
  serviceToken,
  createdAt,
  hasOurCallback,
}: Origin & { serviceToken: string }) => ({
  observedServiceToken: serviceToken,
  observedCreatedAt: createdAt ?? null,
  hasOurCallback: hasOurCallback ?? null,
});

/** The sender may still be waiting for the answer, which carries more than an inquiry. */
export const isAnswerDue = (
  { isUnresolved, answerBy }: { isUnresolved: boolean; answerBy: number },
  inquiredAt: number,
): boolean => !isUnresolved && inquiredAt < answerBy;
