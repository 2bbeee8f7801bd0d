/** The payout as teams see it. */
import { payoutPhases, payoutStatusSchema, statusOfPayoutPhase, type PayoutAggregate } from '@tollgate/core';
import { z } from 'zod';
import { oneOf, publicObject, showing } from './public-object.ts';
import { reviews, reviewsOf } from './review.ts';
import {
  age,
  amount,
  currency,
  declineReason,
  environment,
  errors,
  example,
  instant,
  metadata,
  merchantAccount,
  orderNumber,
  revision,
  sanitizedMask,
} from './values.ts';

export const payoutToken = z.string().meta({ description: 'The payout.', examples: ['po_…'] });

const destination = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('card'), sanitizedMask: z.string() }),
    z.object({ kind: z.literal('recurring'), recurringToken: z.string() }),
    z.object({ kind: z.literal('bankAccount'), bankName: z.string(), accountEnding: z.string() }),
  ])
  .describe('Masked destination of the money.');

const approval = z
  .object({
    askedBy: z.string().describe('Id of the requesting key. It cannot approve or refuse the payout.'),
    grantedBy: z.string().exactOptional().describe('The id of the key that approved it.'),
    lapsesAt: instant.describe(
      'Latest time to approve it, and then to send it. A payout in review may change after that. ISO 8601 in UTC.',
    ),
  })
  .describe('Present if the payout needs approval.');

/** The requested terms. */
export const payoutTerms = {
  both: { orderNumber, metadata: metadata.exactOptional(), currency, amount, destination },
  inAnswers: { callbackUrl: z.string().exactOptional() },
};

export const publicPayout = publicObject({
  both: {
    token: payoutToken,
    status: payoutStatusSchema.describe("The specification's status."),
    phase: oneOf(
      payoutPhases,
      'What the gateway knows; `awaiting_approval`: an approver must approve it; `approval_granted`: repeat the request to send it; `unresolved`: sent, and the outcome is not known yet.',
    ),
    ...age,
    ...payoutTerms.both,
    sanitizedMask: sanitizedMask.exactOptional(),
    declineReason: declineReason.exactOptional(),
    errors: errors.describe('Reasons of the failure; empty if it did not fail.'),
    revision,
  },
  inAnswers: {
    ...payoutTerms.inAnswers,
    account: merchantAccount,
    approval: approval.exactOptional(),
    reviews: reviews.inAnswers,
  },
  inRecords: {
    environment,
    team: z.string().describe('The team that requested it.'),
    reviews: reviews.inRecords,
  },
});
export type PublicPayout = z.infer<typeof publicPayout.answer>;
export type RecordedPayout = z.infer<typeof publicPayout.record>;

/** A payout with the fields that are kept under another name or in another form. */
const sourceOf = (aggregate: PayoutAggregate) => {
  const { payout } = aggregate;
  const { terms, phase, approval, askedBy } = payout;
  return {
    ...terms,
    ...payout,
    ...aggregate,
    approval: approval && { ...approval, askedBy },
    // Not for every reader: the query service adds it.
    account: undefined,
    status: statusOfPayoutPhase(phase),
    sanitizedMask: terms.destination.kind === 'card' ? terms.destination.sanitizedMask : undefined,
    reviews: reviewsOf(aggregate, payout.reviews),
    errors: phase === 'failed' ? payout.errors : [],
  };
};

const [showAnswer, showRecord] = [showing(publicPayout.answer), showing(publicPayout.record)];

export const toPublicPayout = (aggregate: PayoutAggregate): PublicPayout => showAnswer(sourceOf(aggregate));
export const toRecordedPayout = (aggregate: PayoutAggregate): RecordedPayout =>
  showRecord(sourceOf(aggregate));

/** A payout in a list of payments, distinguished by `operationType` as in the specification. */
export const listedPayoutSchema = publicPayout.answer.extend({ operationType: z.literal('payout') });

export const toListedPayout = (aggregate: PayoutAggregate): z.infer<typeof listedPayoutSchema> => ({
  ...toPublicPayout(aggregate),
  operationType: 'payout',
});

/** A payout that has just been requested. */
export const examplePayout: RecordedPayout = {
  token: 'po_6b3kz7nq2v4t5ycx',
  environment: 'sandbox',
  team: 'shop',
  status: 'pending',
  phase: 'requested',
  amount: 5000,
  currency: 'EUR',
  orderNumber: 'payout-1',
  destination: { kind: 'card', sanitizedMask: example.sanitizedMask },
  sanitizedMask: example.sanitizedMask,
  errors: [],
  reviews: [],
  createdAt: example.instant,
  updatedAt: example.instant,
  revision: 3,
};
