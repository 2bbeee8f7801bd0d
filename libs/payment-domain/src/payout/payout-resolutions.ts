/** Which resolutions a payout's review allows, and which reviews are resolved by a later observation. */
import { events, refuse, type Decision } from '../decision.ts';
import { differsInAmountOnly } from '../observed-amount.ts';
import {
  findOpen,
  isAbout,
  isAboutDoubt,
  isAboutToken,
  openReview,
  proposalFor,
  resolveWhere,
  type Resolution,
  resolvedByAPerson,
  type Review,
} from '../review.ts';
import type { ResolveReview } from '../shared-inputs.ts';
import type { PayoutRefusal } from './payout-commands.ts';
import type { PayoutEvent, PayoutReviewCode } from './payout-events.ts';
import { shownCodes, takeStatusShown } from './payout-observation.ts';
import { evolvePayout, inquiryNeedOfPayout, isPayoutAwaited, type Payout } from './payout-state.ts';

const always: Record<PayoutReviewCode, readonly Resolution[]> = {
  final_status_revised: ['acknowledged'],
  payout_not_found: ['inquire_again', 'payout_not_made'],
  second_payout_found: ['acknowledged'],
  service_not_readable: ['inquire_again', 'acknowledged'],
  only_here: ['inquire_again', 'acknowledged'],
  terms_disagree: ['inquire_again', 'acknowledged'],
  unknown_status: ['inquire_again', 'acknowledged'],
};

/** What may be answered to a review, for the payout as it is. */
export function payoutResolutionsOf(
  payout: Payout,
  { code, evidence }: Pick<Review<PayoutReviewCode>, 'code' | 'evidence'>,
): readonly Resolution[] {
  const { terms, call, phase } = payout;
  const { providerOrderNumber } = call;
  // A failed payout has no token: what is shown under its number is taken for it.
  const shown = phase === 'failed' ? evidence['observedServiceToken'] : undefined;
  const { serviceToken = typeof shown === 'string' ? shown : undefined } = payout;
  const isInDoubt = isAboutDoubt({ code }) && isAboutToken(serviceToken)({ evidence }) && phase === 'pending';
  const mayApplyObserved =
    code === 'terms_disagree' &&
    differsInAmountOnly(evidence, { ...terms, providerOrderNumber, serviceToken });
  return [
    ...always[code],
    ...(isInDoubt ? (['payout_not_made'] as const) : []),
    ...(mayApplyObserved ? (['observed_terms_apply'] as const) : []),
  ];
}

export function resolvePayoutReview(
  state: Payout,
  answer: ResolveReview<PayoutReviewCode>,
): Decision<PayoutEvent, PayoutRefusal> {
  const { code, number, resolution, reason } = answer;
  const open = findOpen(state, { code, number });
  if (open === undefined) return refuse({ code: 'review_not_found' });
  const allowed = payoutResolutionsOf(state, open);
  if (!allowed.includes(resolution)) return refuse({ code: 'resolution_not_allowed', allowed });
  const proposed = proposalFor(open, answer);
  if (proposed !== undefined) return events(...proposed);
  const resolved: PayoutEvent = { type: 'ReviewResolved', data: { code, number, resolution, reason } };
  return events(resolved, ...effectOf(evolvePayout(state, resolved), open, resolution));
}

/** What the answer changes beside ending the review. */
function effectOf(
  payout: Payout,
  { code, evidence }: Review<PayoutReviewCode>,
  resolution: Resolution,
): PayoutEvent[] {
  if (resolution === 'payout_not_made') return [endPayout(payout)];
  if (resolution === 'observed_terms_apply') return takeStatusShown(payout, evidence);
  // What may have gone out is asked about, and held, until the service has answered, which may take long.
  return resolution === 'inquire_again' && shownCodes.includes(code)
    ? openReview({ reviews: [], acknowledged: [] }, code, evidence)
    : [];
}

/** A payout that the service never had has failed; one that it had and undid is declined. */
const endPayout = (payout: Payout): PayoutEvent =>
  isPayoutAwaited(payout)
    ? { type: 'PayoutFailed', data: { reason: 'resolved' } }
    : { type: 'PayoutDeclined', data: { declineReason: resolvedByAPerson } };

const isStillInDoubt: Partial<
  Record<PayoutReviewCode, (payout: Payout, about: Review<PayoutReviewCode>) => boolean>
> = {
  payout_not_found: isPayoutAwaited,
  service_not_readable: (payout) => inquiryNeedOfPayout(payout) !== 'settled',
  // What was beside it may turn out to be this payout.
  second_payout_found: ({ serviceToken }, about) =>
    serviceToken === undefined || !isAbout(about, 'serviceToken', serviceToken),
};

/** Resolves the reviews about something whose outcome is known by now. */
export const resolveAnsweredOfPayout = (payout: Payout): PayoutEvent[] =>
  resolveWhere(
    payout,
    (open) => isStillInDoubt[open.code]?.(payout, open) === false,
    'found',
    'what became of it is known by now',
  );
