/** The state of a payment, and queries on it. */
import { amountSchema, apiErrorSchema } from '../money.ts';
import { z } from 'zod';
import { callWindowSchema, endReasons } from '../outbound-call/outbound-call.ts';
import { deferredCallbacksShape } from '../deferred-callback.ts';
import { reviewableShape } from '../review.ts';
import { metadataSchema } from '../metadata.ts';
import { environmentSchema } from '../values.ts';
import {
  attemptSchema,
  paymentFailureSchema,
  reviewCodeSchema,
  sumUnknownSchema,
  termsSchema,
} from './payment-events.ts';
import {
  paymentPhases,
  paymentWalk,
  type PaymentMachineEvent,
  type PaymentMachineState,
} from './payment-machine.ts';

const sumSchema = z.int().min(0);
const endSchema = z.object({ reason: z.enum(endReasons), errors: z.array(apiErrorSchema).readonly() });

export const refundSchema = z.object({
  refundToken: z.string(),
  amount: sumSchema,
  /** The requesting key, and the time, milliseconds since the Unix epoch. */
  askedBy: z.string(),
  askedAt: z.int(),
  fingerprint: z.string(),
  metadata: metadataSchema.exactOptional(),
  sumUnknown: sumUnknownSchema.exactOptional(),
  ...callWindowSchema.shape,
  /** A refund reserves its amount until it is approved or declined. `accepted`: the provider has not decided it. */
  state: z.enum(['submitted', 'unresolved', 'accepted', 'approved', 'declined']),
  /** The provider's token of the refund, if its answer had one. */
  serviceRefundToken: z.string().exactOptional(),
  /** Errors of a refusal that no inquiry has confirmed, while its outcome is unknown. */
  unconfirmed: z.array(apiErrorSchema).readonly().exactOptional(),
  /** Why it had no effect. */
  declined: endSchema.exactOptional(),
});
export type Refund = z.infer<typeof refundSchema>;

const captureOrVoidSchema = z.object({
  operation: z.enum(['capture', 'void']),
  /** Counts the submissions of this payment from 1, so that a late outcome is not taken for another one's. */
  number: z.int().min(1),
  /** How often it was submitted again; absent for the team's own submission; 0 after a review. */
  repeats: z.int().min(0).exactOptional(),
  ...callWindowSchema.shape,
  state: z.enum(['submitted', 'unresolved', 'refused']),
  refused: endSchema.exactOptional(),
});
export type CaptureOrVoid = z.infer<typeof captureOrVoidSchema>;

const disputeSchema = z.object({
  disputeToken: z.string(),
  amount: amountSchema,
  state: z.enum(['open', 'won', 'lost']),
  /** Of the dispute's own stream. */
  revision: z.int().min(0),
});
type Dispute = z.infer<typeof disputeSchema>;

/** A stored payment. Views drop everything that is not a field here. */
export const paymentSchema = z.object({
  environment: environmentSchema,
  team: z.string(),
  /** Permanent owner of the money, even if the team has another wallet now. */
  wallet: z.string(),
  /** The requesting key; empty if adopted. */
  askedBy: z.string(),
  /** Adopted, and not declared payable by an operator. */
  notPayable: z.literal(true).exactOptional(),
  terms: termsSchema,
  fingerprint: z.string(),
  phase: z.enum(paymentPhases),
  attempt: attemptSchema,
  /** The provider's token of the accepted attempt. */
  serviceToken: z.string().exactOptional(),
  processingUrl: z.string().exactOptional(),
  authorizedAmount: sumSchema,
  /** The amount approved by the provider; 0 until then. */
  approvedAmount: sumSchema,
  /** Confirmed refunds, including those made in the provider's own console. */
  refundedAmount: sumSchema,
  refunds: z.array(refundSchema).readonly(),
  disputes: z.array(disputeSchema).readonly(),
  captureOrVoid: captureOrVoidSchema.exactOptional(),
  /** Our alias of the recurring token issued for this payment. */
  recurringToken: z.string().exactOptional(),
  sanitizedMask: z.string().exactOptional(),
  declineReason: z.string().exactOptional(),
  /** Why nothing was charged, if the payment has failed. */
  failure: paymentFailureSchema.exactOptional(),
  /** Errors of the latest refused attempt, including a refusal that no inquiry has confirmed. */
  errors: z.array(apiErrorSchema).readonly(),
  ...deferredCallbacksShape,
  ...reviewableShape(reviewCodeSchema),
});
export type Payment = z.infer<typeof paymentSchema>;

/** Undefined before the request. */
export type PaymentState = Payment | undefined;

/** True while the outcome of the creation is unknown. */
export const isPaymentAwaited = ({ phase }: Pick<Payment, 'phase'>): boolean =>
  phase === 'requested' || phase === 'unresolved';

export const isDecided = ({ state }: Refund): boolean => state === 'approved' || state === 'declined';

/** The refund without an outcome. Only one at a time, so that an effect at the provider can be attributed. */
export const undecidedRefund = ({ refunds }: Payment): Refund | undefined =>
  refunds.find((refund) => !isDecided(refund));

/** Sum of refunds submitted and not decided. */
export const reservedAmount = ({ refunds }: Payment): number =>
  refunds.filter((refund) => !isDecided(refund)).reduce((sum, refund) => sum + refund.amount, 0);

/** Refunded amount that none of our refunds explains: made elsewhere, or by an abandoned refund. */
export const refundedElsewhere = ({ refunds, refundedAmount }: Payment): number =>
  refunds
    .filter(({ state }) => state === 'approved')
    .reduce((sum, { amount }) => Math.max(0, sum - amount), refundedAmount);

export const isPaidPhase = ({ phase }: Pick<Payment, 'phase'>): boolean =>
  phase === 'approved' || phase === 'refunded';

/** The approved amount, or else the requested one. */
export const amountOf = ({ approvedAmount, terms }: Payment): number =>
  approvedAmount > 0 ? approvedAmount : terms.amount;

/** Minor units that the bank has not decided. May exceed what is left of the payment. */
export const disputedAmount = (payment: Pick<Payment, 'disputes'>): number => sumOf(payment, 'open');

/** Minor units that the bank has taken back. */
export const lostAmount = (payment: Pick<Payment, 'disputes'>): number => sumOf(payment, 'lost');

const sumOf = ({ disputes }: Pick<Payment, 'disputes'>, state: Dispute['state']): number =>
  disputes.filter((each) => each.state === state).reduce((sum, { amount }) => sum + amount, 0);

/** Refundable amount, minor units: of an approved payment only, without disputed money. */
export const refundableAmount = (payment: Payment): number =>
  Math.max(0, refundableIfWon(payment) - disputedAmount(payment) - lostAmount(payment));

/** As {@link refundableAmount}, if the bank decided every dispute in our favor. */
export const refundableIfWon = (payment: Payment): number =>
  payment.phase === 'approved'
    ? Math.max(0, payment.approvedAmount - payment.refundedAmount - reservedAmount(payment))
    : 0;

/** The machine's state of a payment, including its calls in flight. */
export function machineStateOf(payment: Payment): PaymentMachineState {
  const refund = undecidedRefund(payment)?.state;
  return { lifecycle: lifecycleOf(payment), refund: refund === undefined ? 'idle' : inFlight(refund) };
}

function lifecycleOf({ phase, captureOrVoid }: Payment): PaymentMachineState['lifecycle'] {
  switch (phase) {
    case 'requested':
      return 'creating.announced';
    case 'unresolved':
      return 'creating.unresolved';
    case 'capturing':
    case 'voiding':
      return `${phase}.${captureOrVoid?.state === 'unresolved' ? 'unresolved' : 'announced'}`;
    default:
      return phase;
  }
}

const inFlight = (state: Refund['state']) =>
  state === 'unresolved' || state === 'accepted' ? state : 'announced';

/** True if the machine allows the event now. */
export const isAllowed = (payment: Payment, event: PaymentMachineEvent): boolean =>
  paymentWalk.next(machineStateOf(payment), event) !== undefined;
