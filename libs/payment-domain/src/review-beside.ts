/**
 * Reviews of payments and payouts beside the known one, under the same number: found as such, or taken for the known one while none was
 * known.
 */
import {
  type Evidence,
  type Review,
  type Reviewable,
  type ReviewOpened,
  type ReviewResolved,
  isAbout,
  isAboutDoubt,
  isAboutToken,
  openReview,
  resolveWhere,
} from './review.ts';

/** Open reviews at once of others beside the known one, at most; more add nothing, unless more of their money has moved. */
const besideMax = 10;

/**
 * As {@link openReview}, of a payment or payout beside the known one, which the evidence names with its `serviceToken`. Another
 * one takes its place when more of its money has moved: who acknowledged it before has not seen that. It takes the place of what was in
 * doubt about it while it was taken for the known one.
 *
 * @param moneyIn more where more of the money has moved, or will; where that is equal, the larger `observedAmount` is more
 */
export function openBeside<Code extends string>(
  { reviews, acknowledged }: Pick<Reviewable<Code>, 'reviews' | 'acknowledged'>,
  code: Code,
  evidence: Evidence,
  moneyIn: (evidence: Evidence) => number,
): (ReviewOpened<Code> | ReviewResolved<Code>)[] {
  const open = reviews.filter((each) => each.code === code);
  const before = [...open, ...acknowledged.filter((each) => each.code === code)];
  const token = evidence['serviceToken'];
  const ofThis = before.filter((each) => isAbout(each, 'serviceToken', token));
  const hasNoLess = (each: Review<Code>) => {
    const more = moneyIn(each.evidence) - moneyIn(evidence);
    return more > 0 || (more === 0 && amountShown(each.evidence) >= amountShown(evidence));
  };
  if (ofThis.length === 0 && open.filter(hasNoLess).length >= besideMax) return [];
  if (ofThis.some(hasNoLess)) return [];
  const isOver = (each: Review<Code>) =>
    ofThis.includes(each) || (isAboutStatus(each) && isAbout(each, 'observedServiceToken', token));
  return [
    ...resolveWhere({ reviews }, isOver, 'superseded', 'the service showed something else'),
    // Each has evidence of its own, so each opens a review, even while another is open.
    ...openReview({ reviews: [], acknowledged: [] }, code, evidence),
  ];
}

/** What the service showed of the one that the evidence names, while it was taken for the known one. */
const isAboutStatus = (about: Pick<Review, 'code'>): boolean =>
  isAboutDoubt(about) || about.code === 'final_status_revised';

/** What open reviews show of others than the known one, which were taken for it while none was known: of each the latest, and the most. */
export function shownBeside({
  reviews,
  serviceToken,
}: Pick<Reviewable, 'reviews'> & { serviceToken?: string }): [string, Evidence][] {
  const isOurs = isAboutToken(serviceToken);
  const latest = new Map<string, Evidence>();
  for (const about of reviews.filter(isAboutStatus)) {
    const { evidence } = about;
    const { observedServiceToken: shown } = evidence;
    if (typeof shown !== 'string' || isOurs(about)) continue;
    const amounts = [latest.get(shown), evidence].flatMap((each) => each?.['observedAmount'] ?? []);
    const most = amounts.length > 0 && { observedAmount: Math.max(...amounts.map(Number)) };
    latest.set(shown, { ...evidence, ...most });
  }
  return [...latest];
}

/** True where it has a number that is not of this order, whichever attempt of it. */
function isOfAnotherOrder(
  { observedOrderNumber: shown }: Evidence,
  { providerOrderNumber }: { providerOrderNumber: string },
): boolean {
  return typeof shown === 'string' && orderOf(shown) !== orderOf(providerOrderNumber);
}

const orderOf = (orderNumber: string): string => orderNumber.replace(/\.\d+$/u, '');

/**
 * What was shown of another one is in review as that, by these events or since before. What has an order number of somebody else says
 * nothing any more.
 */
export function settleBeside<Code extends string>(
  { reviews, acknowledged }: Pick<Reviewable<Code>, 'reviews' | 'acknowledged'>,
  [serviceToken, evidence]: [string, Evidence],
  {
    code,
    events,
    ours,
  }: {
    code: Code;
    events: (ReviewOpened<Code> | ReviewResolved<Code>)[];
    ours: { providerOrderNumber: string };
  },
): (ReviewOpened<Code> | ReviewResolved<Code>)[] {
  const isForeign = isOfAnotherOrder(evidence, ours);
  const isKnown = events.length === 0 && isKnownBeside({ reviews, acknowledged }, code, serviceToken);
  if (!isForeign && !isKnown) return events;
  const isShown = (open: Review<Code>) =>
    isAboutStatus(open) && isAbout(open, 'observedServiceToken', serviceToken);
  return resolveWhere({ reviews }, isShown, 'found', 'the service reported it later');
}

/** Evidence without it has all that there is to know. */
const amountShown = ({ observedAmount }: Evidence): number => Number(observedAmount ?? Infinity);

/** True where {@link openBeside} has opened a review of it that is open, or that a person has acknowledged. */
export const isKnownBeside = <Code extends string>(
  { reviews, acknowledged }: Pick<Reviewable<Code>, 'reviews' | 'acknowledged'>,
  code: Code,
  serviceToken: string,
): boolean =>
  [...reviews, ...acknowledged].some(
    (each) => each.code === code && isAbout(each, 'serviceToken', serviceToken),
  );
