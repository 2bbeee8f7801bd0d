/**
 * The decisions about a payout. Pure: time, identifiers and what the service said come in with the command.
 * Every decision is safe to take again on a newer state, which is what happens when an append meets a conflict.
 *
 * A payout is asked for once and never again by itself: a second call may pay twice, and money that went out seldom
 * comes back. An answer that was lost is looked for; where the service does not have it, a person decides.
 */
import { openReview } from '../review.ts';
import type { Decision } from '../decision.ts';
import { endNotReadable, raiseNotReadable } from '../failed-inquiry.ts';
import { unreachable } from '../invariant.ts';
import { errorsMax, textLengthMax } from '../payment/payment-events.ts';
import { endUnappliedAbout, endUnappliedOfOwn, raiseUnappliedCallback } from '../unapplied-callback.ts';
import type {
  ObservedPayout,
  PayoutCommand,
  PayoutFact,
  PayoutOutcome,
  PayoutRefusal,
  PayoutWish,
  RecordPayoutSearch,
  RequestPayout,
} from './payout-commands.ts';
import type { PayoutReviewCode, PayoutEvent } from './payout-events.ts';
import {
  acceptPayout,
  giveUpWaiting,
  isAnswerDue,
  isOwnNumber,
  observePayout,
  raiseDisagreement,
  raiseSecondPayouts,
  recordPayoutObservation,
} from './payout-observation.ts';
import { resolveAnsweredOfPayout, resolvePayoutReview } from './payout-resolutions.ts';
import {
  evolvePayout,
  isPayoutAwaited,
  inquiryNeedOfPayout,
  type Payout,
  type PayoutState,
} from './payout-state.ts';

export type PayoutDecision = Decision<PayoutEvent, PayoutRefusal>;

/** What a command makes of a payout: events to append in one piece, none where it tells nothing new, or a refusal. */
export function decidePayout(state: PayoutState, command: PayoutCommand): PayoutDecision {
  switch (command.type) {
    case 'RequestPayout':
    case 'ResolvePayoutAttention':
      return decideWish(state, command);
    default:
      return { kind: 'events', events: state === undefined ? [] : record(state, command) };
  }
}

function decideWish(state: PayoutState, wish: PayoutWish): PayoutDecision {
  if (wish.type === 'RequestPayout') return requestPayout(state, wish);
  if (state === undefined) return { kind: 'refused', refusal: { code: 'payout_not_found' } };
  const decision = resolvePayoutReview(state, wish);
  if (decision.kind === 'refused') return decision;
  return { kind: 'events', events: withAnswered(state, decision.events) };
}

// The replay check comes first: the same terms again write nothing, other terms under the same key are refused.
function requestPayout(state: PayoutState, command: RequestPayout): PayoutDecision {
  if (state !== undefined) {
    return state.fingerprint === command.fingerprint
      ? { kind: 'events', events: [] }
      : { kind: 'refused', refusal: { code: 'idempotency_key_reused' } };
  }
  const { environment, team, terms, fingerprint, call } = command;
  return {
    kind: 'events',
    events: [{ type: 'PayoutRequested', data: { environment, team, terms, fingerprint, call } }],
  };
}

function record(state: Payout, fact: PayoutFact): PayoutEvent[] {
  const events = recordFact(state, fact);
  return withAnswered(
    state,
    isInquiry(fact) ? [...events, ...endNotReadable<PayoutReviewCode>(state)] : events,
  );
}

const isInquiry = ({ type }: PayoutFact): boolean =>
  type === 'RecordPayoutLookup' || type === 'RecordPayoutObservation' || type === 'RecordPayoutMissing';

/** The events, and the attention that they end. */
const withAnswered = (state: Payout, events: readonly PayoutEvent[]): PayoutEvent[] => [
  ...events,
  ...resolveAnsweredOfPayout(events.reduce<Payout>(evolvePayout, state)),
];

function recordFact(state: Payout, fact: PayoutFact): PayoutEvent[] {
  switch (fact.type) {
    case 'RecordPayoutOutcome':
      return recordOutcome(state, fact.outcome);
    case 'RecordPayoutLookup':
      return recordSearch(state, fact);
    case 'RecordPayoutObservation':
      return recordPayoutObservation(state, fact);
    case 'RecordPayoutMissing':
      if (state.serviceToken !== fact.serviceToken) return [];
      return openReview(state, 'service_payout_missing', { serviceToken: fact.serviceToken });
    case 'RecordUnappliedPayoutCallback':
      return raiseUnappliedCallback(state, fact);
    case 'RecordPayoutCallbackLooked':
      return endUnappliedAbout(state, fact.serviceToken);
    case 'RecordPayoutLookFailed':
      return raiseNotReadable(state, fact, {
        inquiryNeed: inquiryNeedOfPayout(state),
        quietUntil: state.call.quietUntil,
      });
    default:
      return unreachable(fact);
  }
}

function recordOutcome(state: Payout, outcome: PayoutOutcome): PayoutEvent[] {
  if (outcome.kind === 'accepted') return recordAccepted(state, outcome);
  // A look was faster, or a person has decided: that stands.
  if (!isPayoutAwaited(state)) return [];
  switch (outcome.kind) {
    case 'refused':
      return [
        { type: 'PayoutRefused', data: { errors: outcome.errors.slice(0, errorsMax) } },
        { type: 'PayoutFailed', data: { reason: 'refused' } },
      ];
    case 'not-sent':
      return [
        { type: 'PayoutNotSent', data: { reason: outcome.reason.slice(0, textLengthMax) } },
        { type: 'PayoutFailed', data: { reason: 'not-sent' } },
      ];
    case 'unknown':
      return giveUpWaiting(state, outcome.reason);
    default:
      return unreachable(outcome);
  }
}

function recordAccepted(
  state: Payout,
  { kind: _, ...observed }: Extract<PayoutOutcome, { kind: 'accepted' }>,
): PayoutEvent[] {
  if (isPayoutAwaited(state)) return acceptPayout(state, observed, 'answer');
  if (state.serviceToken === undefined) return observePayout(state, observed);
  // Of the payout that a look has found before: what later looks say counts, this answer is older.
  return raiseSecondPayouts(state, othersThan(state.serviceToken, [observed]));
}

const othersThan = (known: string | undefined, found: readonly ObservedPayout[]): ObservedPayout[] =>
  found.filter(({ serviceToken }) => serviceToken !== known);

function recordSearch(state: Payout, command: RecordPayoutSearch): PayoutEvent[] {
  if (isAnswerDue(state, command.inquiredAt)) return [];
  const own = command.found.filter((payout) => isOwnNumber(state, payout));
  // Too late to be needed, yet what it found and nobody knows of is a second payout.
  if (state.serviceToken !== undefined) return raiseSecondPayouts(state, othersThan(state.serviceToken, own));
  const unresolved = giveUpWaiting(state, 'no outcome was recorded');
  const found = resolve(unresolved.reduce<Payout>(evolvePayout, state), own, command);
  const ended = endUnappliedOfOwn(state, own[0]?.serviceToken, 'the service was asked later');
  return [...unresolved, ...found, ...ended];
}

/** What a look by its number tells of a payout that is awaited, or that has failed and must not be there. */
function resolve(
  state: Payout,
  own: readonly ObservedPayout[],
  { found, inquiredAt }: RecordPayoutSearch,
): PayoutEvent[] {
  const [first, ...others] = own;
  if (first !== undefined) {
    const events = isPayoutAwaited(state)
      ? acceptPayout(state, first, 'inquiry')
      : observePayout(state, first);
    const after = events.reduce<Payout>(evolvePayout, state);
    return [...events, ...raiseSecondPayouts(after, othersThan(first.serviceToken, others))];
  }
  if (!isPayoutAwaited(state)) return [];
  // An answer about other orders than the one asked for proves nothing about ours.
  const [foreign] = found;
  if (foreign !== undefined) return raiseDisagreement(state, foreign);
  const { providerOrderNumber, quietUntil } = state.call;
  return inquiredAt < quietUntil ? [] : openReview(state, 'payout_not_found', { providerOrderNumber });
}
