/** The payment as teams see it: a field stated here appears in answers, records, OpenAPI, AsyncAPI and exported files. */
import { paymentStatusSchema } from '@tollgate/core/money';
import {
  disputedAmount,
  lostAmount,
  paymentPhases,
  statusOfPhase,
  type Payment,
  type PaymentAggregate,
} from '@tollgate/core';
import { z } from 'zod';
import { oneOf, publicObject, showing } from './public-object.ts';
import { paymentToken, refundOf, refunds } from './refund.ts';
import { reviews, reviewsOf } from './review.ts';
import {
  age,
  amount,
  currency,
  declineReason,
  environment,
  errors,
  example,
  merchantAccount,
  metadata,
  orderNumber,
  revision,
  sanitizedMask,
  sum,
} from './values.ts';

/** The requested terms, without the customer's data. */
export const paymentTerms = {
  both: {
    orderNumber: orderNumber.exactOptional(),
    metadata: metadata.exactOptional(),
    product: z.string().describe('The product or service that the customer buys.'),
    currency,
    amount: amount.describe('The requested amount, in minor units: 1250 is 12.50 EUR.'),
    needConfirmation: z
      .boolean()
      .describe('True if the money stays authorized until the team captures or voids it.'),
    locale: z.string().exactOptional().describe("Language of the customer's page, a BCP 47 tag."),
    recurring: z.boolean().exactOptional().describe('True if a recurring token was requested.'),
    recurringToken: z
      .string()
      .exactOptional()
      .describe('Recurring token that was issued, or that was charged.'),
  },
  // A team reads its URLs back through the API. A topic has more readers, and URLs carry secrets.
  inAnswers: {
    callbackUrl: z.string().exactOptional(),
    redirectSuccessUrl: z.string().exactOptional(),
    redirectFailUrl: z.string().exactOptional(),
  },
};

export const publicPayment = publicObject({
  both: {
    token: paymentToken,
    status: paymentStatusSchema.describe("The specification's status."),
    phase: oneOf(paymentPhases, 'More precise state; `unresolved`: sent, and the outcome is not known yet.'),
    ...age,
    ...paymentTerms.both,
    // The specification's word, because teams read the gateway as they read the Payment Service.
    heldAmount: sum.describe(
      'The amount that is authorized and neither captured nor voided, in minor units.',
    ),
    approvedAmount: sum.describe('The approved amount, in minor units.'),
    refundedAmount: sum.describe('The refunded amount, in minor units.'),
    disputedAmount: sum.describe(
      'Amount under an open dispute, in minor units. It cannot be refunded or paid out.',
    ),
    lostAmount: sum.describe('Amount lost in disputes, in minor units.'),
    sanitizedMask: sanitizedMask.exactOptional(),
    declineReason: declineReason.exactOptional(),
    errors: errors.describe('Reasons of the failure; empty if it did not fail.'),
    revision,
  },
  inAnswers: {
    ...paymentTerms.inAnswers,
    account: merchantAccount,
    processingUrl: z
      .string()
      .exactOptional()
      .describe('The page where your customer pays; present only while the customer can act on it.'),
    refunds: refunds.inAnswers,
    reviews: reviews.inAnswers,
  },
  inRecords: {
    environment,
    team: z.string().describe('The team that requested it.'),
    refunds: refunds.inRecords,
    reviews: reviews.inRecords,
  },
});
export type PublicPayment = z.infer<typeof publicPayment.answer>;
export type RecordedPayment = z.infer<typeof publicPayment.record>;

/** The columns of an exported file: fields of both answers and records that fit a cell. */
export const paymentColumns: readonly string[] = Object.entries<z.ZodType>(publicPayment.both)
  .filter(([, schema]) => !(schema instanceof z.ZodArray))
  .map(([name]) => name);

/** A payment with the fields that are kept under another name or in another form. */
const sourceOf = (aggregate: PaymentAggregate) => {
  const { payment } = aggregate;
  const { terms, phase } = payment;
  return {
    ...terms,
    ...payment,
    ...aggregate,
    // Not for every reader: the query service adds it.
    account: undefined,
    status: statusOfPhase(phase),
    recurringToken: payment.recurringToken ?? terms.recurringToken,
    heldAmount: payment.authorizedAmount,
    disputedAmount: disputedAmount(payment),
    lostAmount: lostAmount(payment),
    processingUrl: isPageOpen(payment) ? payment.processingUrl : undefined,
    refunds: payment.refunds.map((each) => refundOf(each, aggregate)),
    reviews: reviewsOf(aggregate, payment.reviews),
    errors: phase === 'failed' ? payment.errors : [],
  };
};

// No customer is sent to a page whose terms differ from the requested ones.
const isPageOpen = ({ phase, serviceToken, discrepancies }: Payment): boolean =>
  (phase === 'init' || phase === 'pending') &&
  !discrepancies.some((each) => each.serviceToken === serviceToken && each.state === 'open');

const [showAnswer, showRecord] = [showing(publicPayment.answer), showing(publicPayment.record)];

export const toPublicPayment = (aggregate: PaymentAggregate): PublicPayment =>
  showAnswer(sourceOf(aggregate));
export const toRecordedPayment = (aggregate: PaymentAggregate): RecordedPayment =>
  showRecord(sourceOf(aggregate));

/** A payment that has just been requested. */
export const examplePayment: RecordedPayment = {
  token: example.paymentToken,
  environment: 'sandbox',
  team: 'shop',
  status: 'init',
  phase: 'requested',
  product: 'Tea for two',
  amount: 1250,
  currency: 'EUR',
  orderNumber: 'order-1',
  needConfirmation: false,
  heldAmount: 0,
  approvedAmount: 0,
  refundedAmount: 0,
  disputedAmount: 0,
  lostAmount: 0,
  refunds: [],
  errors: [],
  reviews: [],
  createdAt: example.instant,
  updatedAt: example.instant,
  revision: 3,
};
