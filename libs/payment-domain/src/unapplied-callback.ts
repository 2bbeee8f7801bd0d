/** Callbacks that came while the service could not be asked what they were about. */
import {
  isAbout,
  openReviewPer,
  resolveWhere,
  type Reviewable,
  type Review,
  type ReviewOpened,
  type ReviewResolved,
} from './review.ts';

const code = 'callback_not_applied';

/** Of one payment or payout that are open at a time at most; more tell nothing new. */
export const unappliedCallbacksMax = 10;

/** Calls a person, once for each of the service's tokens that callbacks name, and once for those that name none. */
export function raiseUnappliedCallback(
  state: Reviewable,
  { reason, serviceToken }: { reason: string; serviceToken?: string },
): ReviewOpened<typeof code>[] {
  if (state.reviews.filter(isUnapplied).length >= unappliedCallbacksMax) return [];
  // Another callback, whatever a person has said about an earlier one that met the same hindrance.
  const anew = { ...state, acknowledged: [] };
  return openReviewPer(anew, code, { reason, serviceToken: serviceToken ?? null }, 'serviceToken');
}

const isUnapplied = (open: Review): boolean => open.code === code;

/** What was looked at is known by now: what its callbacks were about, and those that do not tell what they are about. */
export const endUnappliedOfOwn = <Code extends string>(
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

/** Ends those about just this token of the service. */
export const endUnappliedAbout = <Code extends string>(
  state: Reviewable<Code>,
  serviceToken: string,
): ReviewResolved<Code>[] =>
  resolveWhere(
    state,
    (open) => isUnapplied(open) && isAbout(open, 'serviceToken', serviceToken),
    'retrieved',
    'the service was asked later',
  );
