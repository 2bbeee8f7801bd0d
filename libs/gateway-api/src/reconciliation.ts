/** Reconciliations as administrators see them. */
import { z } from 'zod';

const count = z.int().min(0);
const minorUnits = z.int().describe('Minor units.');
const here = 'in our books';
const there = 'as the Payment Service shows it';
const money = (what: string, where: string) => minorUnits.describe(`${what}, ${where}. Minor units.`);

const countsSchema = z.object({
  matched: count,
  differing: count.describe('Status, amount or refunded sum differed; each was inquired.'),
  onlyHere: count.describe('The Payment Service does not show it; a review is open.'),
  onlyAtService: count.describe('Not one of our operations; a review is open.'),
  onOtherDays: count.describe('Created on that day here; the Payment Service shows another day.'),
  underWay: count.describe('Too recent to be compared, or changed meanwhile; the next run compares it.'),
});

const sumsSchema = z.object({
  currency: z.string(),
  paymentsHere: money('Approved, refunds not deducted', here),
  paymentsThere: money('Approved, refunds not deducted', there),
  refundsHere: money('Refunded', here),
  refundsThere: money('Refunded', there),
  payoutsHere: money('Paid out', here),
  payoutsThere: money('Paid out', there),
});

const amountsSchema = z.object({
  status: z.string(),
  amount: minorUnits,
  refundedAmount: minorUnits.nullable().describe('Null if the Payment Service shows none.'),
});

export const publicDifferenceSchema = z.object({
  kind: z.enum(['differs', 'another_token', 'only_here', 'only_at_service']),
  operation: z.enum(['payment', 'payout']),
  token: z.string().describe('Our payment or payout.').exactOptional(),
  serviceToken: z.string().describe('Token of the Payment Service.'),
  currency: z.string(),
  here: amountsSchema.exactOptional(),
  there: amountsSchema.exactOptional(),
  isSettled: z.boolean().describe('True if the inquiry recorded the difference or opened a review.'),
});
export type PublicDifference = z.infer<typeof publicDifferenceSchema>;

export const publicReconciliationSchema = z.object({
  token: z.string(),
  account: z.string(),
  day: z.iso.date().describe('Day of creation, in UTC.'),
  isDryRun: z.boolean(),
  by: z.enum(['schedule', 'person']),
  outcome: z.enum(['complete', 'incomplete', 'account_unknown']),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  counts: countsSchema,
  sums: z.array(sumsSchema).describe('By currency.'),
});
export type PublicReconciliation = z.infer<typeof publicReconciliationSchema>;
