/**
 * One outbound call that moves money, from its announcement until its outcome is known. Every operation shares this:
 *
 *     announced ── answer ──► accepted | refused, confirmed by an inquiry | not sent
 *         └── no answer, or no confirmation ──► unresolved ── inquiry ──► its effect shows, or it is absent after the quiet period
 *
 * Operations differ as data: which events they write ({@link CallInFlight}), how often
 * they may be attempted, and which review opens if no inquiry can settle it ({@link callRules}).
 */
import type { ApiError } from '../money.ts';
import { z } from 'zod';
import { unreachable } from '../invariant.ts';
import { cut, errorsMax, instantSchema } from '../values.ts';

/** When an announced call may be sent, and until when its outcome may still come. */
export const callWindowSchema = z.object({
  /** The call may be sent before this instant only. */
  sendBy: instantSchema,
  /** The sender has stopped waiting by this instant. */
  answerBy: instantSchema,
  /** From this instant on, "not found" means that the call never took effect. */
  quietUntil: instantSchema,
});
export type CallWindow = z.infer<typeof callWindowSchema>;

export const windowOf = ({ sendBy, answerBy, quietUntil }: CallWindow): CallWindow => ({
  sendBy,
  answerBy,
  quietUntil,
});

export type CallOperation = 'authorize' | 'capture' | 'void' | 'refund' | 'payout';

const days = 24 * 60 * 60 * 1000;

/**
 * `attemptsMax`: calls for one request at most, the first one included; without it, one. `review`: opened if the effect is
 * absent after the quiet period and there is no further attempt. `decisionMs`: how long the provider may take to decide
 * what it has accepted, before the review opens.
 */
export const callRules = {
  /** Only a hosted payment is attempted again: nobody can have paid on a page that was never handed out. */
  authorize: { attemptsMax: 3, review: 'attempt_not_found' },
  capture: { attemptsMax: 5, review: 'capture_unresolved' },
  void: { attemptsMax: 5, review: 'void_unresolved' },
  refund: { review: 'refund_unresolved', decisionMs: 3 * days },
  /** A second call may pay twice, and money that went out seldom comes back. */
  payout: { review: 'payout_not_found' },
} as const satisfies Record<CallOperation, { attemptsMax?: number; review: string; decisionMs?: number }>;

/** What is known of a call, by the provider's classification. */
export type CallOutcome<Answer> =
  | ({ kind: 'accepted' } & Answer)
  | CallRefused
  /** No byte of it left us; or, where `isAnswered`, the provider says that it was too busy to carry it out. */
  | { kind: 'not-sent'; reason: string; isAnswered?: boolean }
  /** With errors: it was refused, and no inquiry has confirmed that yet. */
  | { kind: 'unknown'; reason: string; errors?: ApiError[] };

/** By its answer without effect, which an inquiry has to confirm: it may be the answer to a second delivery. */
export interface CallRefused {
  kind: 'refused';
  errors: ApiError[];
  /** The provider refuses our account and not this request: another account may succeed. */
  isAccountRefused?: boolean;
}

export const refusedFor = (errors: readonly ApiError[]): CallRefused => ({
  kind: 'refused',
  errors: [...errors],
});

/** Why nothing came of a call. */
export const endReasons = ['refused', 'not-sent', 'declined', 'resolved'] as const;
export type EndReason = (typeof endReasons)[number];

/** A call without an outcome, and the events that its outcomes are. */
export interface CallInFlight<Event, Answer> extends CallWindow {
  /** True once its outcome is on record as unknown. */
  isUnresolved: boolean;
  unresolved(reason: string, errors?: ApiError[]): Event;
  accepted(answer: Answer): Event[];
  refused(refused: CallRefused): Event[];
  notSent(reason: string, isAnswered: boolean): Event[];
}

/** What the outcome of a call leads to. */
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

/** What an inquiry shows about a call without an outcome. */
export interface CallInquiry<Event> {
  /** When the inquiry began, milliseconds since the Unix epoch. */
  inquiredAt: number;
  /** Events of the effect; undefined if it does not show. */
  effect: readonly Event[] | undefined;
  /** What follows if it is absent permanently. */
  absent: () => readonly Event[];
  /** How much longer than the quiet period absence proves nothing, milliseconds. */
  patienceMs?: number;
}

/** What an inquiry leads to. Time alone never turns unknown into failed: absence counts from `quietUntil` on. */
export function settleCall<Event>(
  call: Pick<CallInFlight<Event, never>, 'isUnresolved' | 'unresolved' | 'answerBy' | 'quietUntil'>,
  { inquiredAt, effect, absent, patienceMs = 0 }: CallInquiry<Event>,
): Event[] {
  if (isAnswerDue(call, inquiredAt)) return [];
  const unresolved = leaveUnresolved(call, 'no outcome was recorded');
  if (effect !== undefined) return [...unresolved, ...effect];
  return inquiredAt < call.quietUntil + patienceMs ? unresolved : [...unresolved, ...absent()];
}

/** How far the provider's clock may be behind ours, milliseconds. */
const clockToleranceMs = 5 * 60 * 1000;

/** Where something comes from that was found under our number; what the provider does not show proves nothing. */
export interface Origin {
  /** Milliseconds since the Unix epoch. */
  createdAt?: number;
  /** False where its callbacks go elsewhere. */
  hasOurCallback?: boolean;
}

/**
 * False if this call cannot have made it: it is older than the announcement, or its callbacks go elsewhere. Another
 * installation, or an earlier one over the same account, may have used our number.
 */
export const mayBeMadeBy = (
  { sendBy }: Pick<CallWindow, 'sendBy'>,
  { createdAt = sendBy, hasOurCallback = true }: Origin,
): boolean => hasOurCallback && createdAt >= sendBy - clockToleranceMs;

/** What a review shows of something under our number that our call cannot have made. */
export const originEvidence = ({
  serviceToken,
  createdAt,
  hasOurCallback,
}: Origin & { serviceToken: string }) => ({
  observedServiceToken: serviceToken,
  observedCreatedAt: createdAt ?? null,
  hasOurCallback: hasOurCallback ?? null,
});

/** The sender may still be waiting for the answer, which says more than an inquiry. */
export const isAnswerDue = (
  { isUnresolved, answerBy }: { isUnresolved: boolean; answerBy: number },
  inquiredAt: number,
): boolean => !isUnresolved && inquiredAt < answerBy;
