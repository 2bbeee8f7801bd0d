/** Payments and payouts with the metadata of their streams. Commands decide on these; views store them. */
import { InvariantViolation } from './invariant.ts';
import type { PaymentEvent } from './payment/payment-events.ts';
import { evolve } from './payment/payment-evolve.ts';
import { type Payment } from './payment/payment-state.ts';
import type { PayoutEvent } from './payout/payout-events.ts';
import { evolvePayout, type Payout } from './payout/payout-state.ts';
import type { Review } from './review.ts';

/** `Position` is the store's own kind of position. */
export interface Aggregate<Position extends string = string> {
  token: string;
  /**
   * Decision times of the first and latest event, milliseconds since the Unix epoch. An adopted payment has the provider's
   * creation time.
   */
  createdAt: number;
  updatedAt: number;
  /** Revision of the latest event, from 0. */
  revision: number;
  /** Position of the latest event in the store. */
  position: Position;
}

export interface Reviewed {
  /** Opening time of each open review, in the order of `reviews`, milliseconds since the Unix epoch. */
  reviewsSince: readonly number[];
}

/** Start and last change of a part of a payment, milliseconds since the Unix epoch. */
type Times = Pick<Aggregate, 'createdAt' | 'updatedAt'>;

export interface PaymentAggregate<Position extends string = string> extends Aggregate<Position>, Reviewed {
  payment: Payment;
  refundTimes: readonly Times[];
}
export interface PayoutAggregate<Position extends string = string> extends Aggregate<Position>, Reviewed {
  payout: Payout;
}

/** An event of one stream with its metadata. */
export interface Happened<Event, Position extends string = string> {
  token: string;
  event: Event;
  /** Decision time, milliseconds since the Unix epoch. */
  recordedAt: number;
  revision: number;
  position: Position;
}

/** The revision of the next event. */
export const nextRevision = (before: Pick<Aggregate, 'revision'> | undefined): number =>
  before === undefined ? 0 : before.revision + 1;

/** @throws InvariantViolation if events are missing before this one, or the payment rules it out */
export function evolvePaymentAggregate<Position extends string>(
  before: PaymentAggregate<Position> | undefined,
  happened: Happened<PaymentEvent, Position>,
): PaymentAggregate<Position> {
  const payment = evolve(before?.payment, happened.event);
  const reviewsSince = reviewsSinceAfter(before, before?.payment, payment, happened);
  const refundTimes = refundTimesAfter(before, payment, happened);
  return { ...envelopeAfter(before, happened, begunAt(happened)), payment, reviewsSince, refundTimes };
}

/** As {@link evolvePaymentAggregate}, for a payout. */
export function evolvePayoutAggregate<Position extends string>(
  before: PayoutAggregate<Position> | undefined,
  happened: Happened<PayoutEvent, Position>,
): PayoutAggregate<Position> {
  const payout = evolvePayout(before?.payout, happened.event);
  const reviewsSince = reviewsSinceAfter(before, before?.payout, payout, happened);
  return { ...envelopeAfter(before, happened), payout, reviewsSince };
}

/** An adopted payment has the provider's creation time. */
const begunAt = ({ event, recordedAt }: Happened<PaymentEvent>): number =>
  (event.type === 'PaymentAdopted' ? event.data.createdAt : undefined) ?? recordedAt;

/** @throws InvariantViolation if events are missing before this one */
export function envelopeAfter<Position extends string>(
  before: Aggregate<Position> | undefined,
  { token, recordedAt, revision, position }: Happened<unknown, Position>,
  begun = recordedAt,
): Aggregate<Position> {
  if (revision !== nextRevision(before)) throw new InvariantViolation('events are missing before this one');
  return { token, createdAt: before?.createdAt ?? begun, updatedAt: recordedAt, revision, position };
}

function refundTimesAfter(
  before: Pick<PaymentAggregate, 'refundTimes'> | undefined,
  { refunds }: Payment,
  { event, recordedAt }: Happened<PaymentEvent>,
): readonly Times[] {
  const refundTimes = before?.refundTimes ?? [];
  if (!('refundToken' in event.data)) return refundTimes;
  const { refundToken } = event.data;
  const place = refunds.findIndex((refund) => refund.refundToken === refundToken);
  return refundTimes.toSpliced(place, 1, {
    createdAt: refundTimes[place]?.createdAt ?? recordedAt,
    updatedAt: recordedAt,
  });
}

/** Open reviews keep their time. Several reviews of one code may be open. */
export function reviewsSinceAfter(
  before: Reviewed | undefined,
  old: { reviews: readonly Review[] } | undefined,
  { reviews }: { reviews: readonly Review[] },
  { recordedAt }: { recordedAt: number },
): readonly number[] {
  const placeOf = ({ number }: Review) => old?.reviews.findIndex((each) => each.number === number) ?? -1;
  return reviews.map((open) => before?.reviewsSince[placeOf(open)] ?? recordedAt);
}
