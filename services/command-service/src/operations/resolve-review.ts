/** A person's word about something that waits for one. */
import {
  type ReviewCode,
  type PaymentRefusal,
  type PayoutReviewCode,
  type PayoutRefusal,
  type Resolution,
  reviewCodeSchema,
  payoutReviewCodeSchema,
} from '@tollgate/payment-domain';
import { isOwnedBy, type Caller } from '@tollgate/teams';
import { toPublicPayment, toPublicPayout } from '@tollgate/views';
import type { Clock } from '@tollgate/service-kit';
import type { InquiryResult } from '../inquiries/inquiry-result.ts';
import type { Payments } from '../streams/payments.ts';
import type { Payouts } from '../streams/payouts.ts';
import type { Cause } from '../streams/repository.ts';
import { inquireBriefly } from './await-outcome.ts';
import { findOwn } from './own-payment.ts';

export interface ResolveReviewDependencies {
  payments: Payments;
  payouts: Payouts;
  inquire: (token: string, cause: Cause) => Promise<InquiryResult>;
  clock: Clock;
}

export interface ResolveReviewInput {
  caller: Caller;
  /** Of a payment or a payout. */
  token: string;
  code: ReviewCode | PayoutReviewCode;
  /** Which of those with this code, as the list of attention shows it. */
  number: number;
  resolution: Resolution;
  reason: string;
  cause: Cause;
}

export type ResolveReviewResult =
  | { kind: 'resolved'; position: string; shown: Record<string, unknown> }
  | { kind: 'refused'; refusal: PaymentRefusal | PayoutRefusal };

const notFound = { kind: 'refused', refusal: { code: 'review_not_found' } } as const;

export function resolveReview(
  deps: ResolveReviewDependencies,
  input: ResolveReviewInput,
): Promise<ResolveReviewResult> {
  return input.token.startsWith('po_') ? ofPayout(deps, input) : ofPayment(deps, input);
}

async function ofPayment(
  { payments, inquire, clock }: ResolveReviewDependencies,
  { caller, token, code, number, resolution, reason, cause }: ResolveReviewInput,
): Promise<ResolveReviewResult> {
  const found = await findOwn(payments, caller, token);
  if (found === undefined) return { kind: 'refused', refusal: { code: 'payment_not_found' } };
  const known = reviewCodeSchema.safeParse(code);
  if (!known.success) return notFound;
  const command = { type: 'ResolveAttention' as const, code: known.data, number, resolution, reason };
  const executed = await payments.execute(token, command, cause);
  if (executed.kind === 'refused') return executed;
  // Whatever was said: from here on only a look finds what the service does about it. The word stands without it.
  await inquireBriefly({ inquire, clock }, { token, cause });
  const view = (await payments.load(token)) ?? found;
  return { kind: 'resolved', position: view.position, shown: { payment: toPublicPayment(view) } };
}

async function ofPayout(
  { payouts, inquire, clock }: ResolveReviewDependencies,
  { caller, token, code, number, resolution, reason, cause }: ResolveReviewInput,
): Promise<ResolveReviewResult> {
  const found = await payouts.load(token);
  if (found === undefined || !isOwnedBy(found.payout, caller))
    return { kind: 'refused', refusal: { code: 'payout_not_found' } };
  const known = payoutReviewCodeSchema.safeParse(code);
  if (!known.success) return notFound;
  const command = { type: 'ResolvePayoutAttention' as const, code: known.data, number, resolution, reason };
  const executed = await payouts.execute(token, command, cause);
  if (executed.kind === 'refused') return executed;
  // Whatever was said: from here on only a look finds what the service does about it. The word stands without it.
  await inquireBriefly({ inquire, clock }, { token, cause });
  const view = (await payouts.load(token)) ?? found;
  return { kind: 'resolved', position: view.position, shown: { payout: toPublicPayout(view) } };
}
