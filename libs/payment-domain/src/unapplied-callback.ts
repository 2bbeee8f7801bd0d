/** Callbacks that came while the service could not be asked what they were about. */
import {
  isAbout,
  openReviewPer,
  resolveWhere,
  type Review,
  type Reviewable,
  type ReviewOpened,
  type ReviewResolved,
} from './review.ts';

const code = 'callback_not_applied';

/** Open at a time for one payment or payout at most; more add nothing. */
const unappliedCallbacksMax = 10;

const isUnapplied = (open: Review): boolean => open.code === code;

/** Opens a review per service token that callbacks name, and one for callbacks that name none. */
export function openUnappliedCallback(
  state: Reviewable,
  { reason, serviceToken }: { reason: string; serviceToken?: string },
): ReviewOpened<typeof code>[] {
  if (state.reviews.filter(isUnapplied).length >= unappliedCallbacksMax) return [];
  // Another callback opens a review, even if a person acknowledged an earlier one with the same reason.
  const unseen = { ...state, acknowledged: [] };
  return openReviewPer(unseen, 'serviceToken', code, { reason, serviceToken: serviceToken ?? null });
}

/** Resolves those about what was inquired, and those that name nothing. */
export const resolveUnappliedOfOwn = <Code extends string>(
  state: Reviewable<Code>,
  ownToken: string | undefined,
  reason: string,
): ReviewResolved<Code>[] =>
  resolveWhere(
    state,
    (open) =>
      isUnapplied(open) && (isAbout(open, 'serviceToken', null) || isAbout(open, 'serviceToken', ownToken)),
    'retrieved',
    reason,
  );

/** Resolves those about just this service token. */
export const resolveUnappliedAbout = <Code extends string>(
  state: Reviewable<Code>,
  serviceToken: string,
): ReviewResolved<Code>[] =>
  resolveWhere(
    state,
    (open) => isUnapplied(open) && isAbout(open, 'serviceToken', serviceToken),
    'retrieved',
    'the service was asked later',
  );
