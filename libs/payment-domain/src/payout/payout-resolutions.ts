/** What a person may say about a payout that waits for one, and what is resolved by what was found out since. */
import { findOpen, resolveWhere, type Resolution } from '../attention.ts';
import type { Decision } from '../decision.ts';
import type { PayoutRefusal, ResolvePayoutAttention } from './payout-commands.ts';
import type { PayoutAttentionCode, PayoutEvent } from './payout-events.ts';
import { isFinalPayoutPhase } from './payout-machine.ts';
import { isPayoutAwaited, openWorkOfPayout, resolvedByAPerson, type Payout } from './payout-state.ts';

const always: Record<PayoutAttentionCode, readonly Resolution[]> = {
  callback_not_applied: ['look_again', 'acknowledged'],
  final_status_revised: ['acknowledged'],
  payout_not_found: ['look_again', 'payout_not_made'],
  second_payout_found: ['acknowledged'],
  service_not_readable: ['look_again', 'acknowledged'],
  service_payout_missing: ['look_again', 'acknowledged'],
  terms_disagree: ['look_again', 'acknowledged'],
  unknown_status: ['look_again', 'acknowledged'],
};

/** The ways out of an attention of this code, for the payout as it is. */
export function payoutResolutionsOf(payout: Payout, code: PayoutAttentionCode): readonly Resolution[] {
  const isInDoubt = code === 'service_payout_missing' && !isFinalPayoutPhase(payout.phase);
  return isInDoubt ? [...always[code], 'payout_not_made'] : always[code];
}

export function resolvePayoutAttention(
  state: Payout,
  { code, number, resolution, reason }: ResolvePayoutAttention,
): Decision<PayoutEvent, PayoutRefusal> {
  if (findOpen(state, { code, number }) === undefined)
    return { kind: 'refused', refusal: { code: 'attention_not_found' } };
  const allowed = payoutResolutionsOf(state, code);
  if (!allowed.includes(resolution))
    return { kind: 'refused', refusal: { code: 'resolution_not_allowed', allowed } };
  const resolved: PayoutEvent = { type: 'AttentionResolved', data: { code, number, resolution, reason } };
  const ended = resolution === 'payout_not_made' ? [endPayout(state)] : [];
  return { kind: 'events', events: [resolved, ...ended] };
}

/** A payout that the service never had has failed; one that it had and undid is declined. */
const endPayout = (payout: Payout): PayoutEvent =>
  isPayoutAwaited(payout)
    ? { type: 'PayoutFailed', data: { reason: 'resolved' } }
    : { type: 'PayoutDeclined', data: { declineReason: resolvedByAPerson } };

const isStillInDoubt: Partial<Record<PayoutAttentionCode, (payout: Payout) => boolean>> = {
  payout_not_found: isPayoutAwaited,
  service_not_readable: (payout) => openWorkOfPayout(payout) !== undefined,
};

/** Ends the attention about something whose outcome is known by now. */
export const resolveAnsweredOfPayout = (payout: Payout): PayoutEvent[] =>
  resolveWhere(
    payout,
    ({ code }) => isStillInDoubt[code]?.(payout) === false,
    'found',
    'what became of it is known by now',
  );
