/** What a payment is, folded from its events. */
import { apiErrorSchema, type ApiError } from '../money.ts';
import { z } from 'zod';
import { InvariantViolation, unreachable } from '../invariant.ts';
import { callWindowSchema, endReasons } from '../outbound-call/outbound-call.ts';
import {
  afterDeferred,
  afterInquired,
  deferredCallbacksShape,
  noDeferredCallbacks,
} from '../deferred-callback.ts';
import { inOrder } from '../decision.ts';
import { afterDispute, disputedAmount, disputeSchema, lostAmount } from './disputes.ts';
import { afterOpened, afterProposed, afterResolved, noReviews, reviewableShape } from '../review.ts';
import { metadataSchema } from '../metadata.ts';
import { environmentSchema, omitUndefined } from '../values.ts';
import {
  attemptSchema,
  paymentFailureSchema,
  reviewCodeSchema,
  sumUnknownSchema,
  termsSchema,
  type PaymentEvent,
  type PaymentEventOf,
} from './payment-events.ts';
import {
  paymentPhases,
  paymentWalk,
  phaseOf,
  type BeginningType,
  type PaymentMachineEvent,
  type PaymentMachineState,
} from './payment-machine.ts';

const sumSchema = z.int().min(0);
const endSchema = z.object({ reason: z.enum(endReasons), errors: z.array(apiErrorSchema).readonly() });

export const refundSchema = z.object({
  refundToken: z.string(),
  amount: sumSchema,
  /** The key that asked, and when, milliseconds since the Unix epoch. */
  askedBy: z.string(),
  askedAt: z.int(),
  fingerprint: z.string(),
  metadata: metadataSchema.exactOptional(),
  sumUnknown: sumUnknownSchema.exactOptional(),
  ...callWindowSchema.shape,
  /** A refund reserves its amount until it is approved or declined. `accepted`: the service has not decided it. */
  state: z.enum(['submitted', 'unresolved', 'accepted', 'approved', 'declined']),
  /** The service's token of the refund, where its answer had one. */
  serviceRefundToken: z.string().exactOptional(),
  /** Errors of a refusal that no inquiry has confirmed, while its outcome is unknown. */
  unconfirmed: z.array(apiErrorSchema).readonly().exactOptional(),
  /** Why nothing came of it. */
  declined: endSchema.exactOptional(),
});
export type Refund = z.infer<typeof refundSchema>;

/**
 * Of all refunds of one payment together, characters as JSON: their errors are in the payment's view and in its records on
 * the topic, which have to stay small. Those of the latest refunds are kept; the stored events have them all.
 */
export const refundErrorsLengthMax = 65_536;

/** The latest capture or void. */
const captureOrVoidSchema = z.object({
  operation: z.enum(['capture', 'void']),
  /** Counts the submissions of this payment from 1, so that a late outcome is not taken for another one's. */
  number: z.int().min(1),
  /** How often it was submitted again; absent for the submission that the team asked for; 0 after a review. */
  repeats: z.int().min(0).exactOptional(),
  ...callWindowSchema.shape,
  state: z.enum(['submitted', 'unresolved', 'refused']),
  refused: endSchema.exactOptional(),
});
export type CaptureOrVoid = z.infer<typeof captureOrVoidSchema>;

/** A payment as it is kept: what is not a field here is lost when a view of it is stored. */
export const paymentSchema = z.object({
  environment: environmentSchema,
  team: z.string(),
  /** Whose money it is, whatever wallet the team has by now. */
  wallet: z.string(),
  /** The key that asked; empty if the payment was adopted. */
  askedBy: z.string(),
  /** Adopted, and not declared payable by an operator. */
  notPayable: z.literal(true).exactOptional(),
  terms: termsSchema,
  fingerprint: z.string(),
  phase: z.enum(paymentPhases),
  /** The latest attempt. */
  attempt: attemptSchema,
  /** The service's token of the accepted attempt. */
  serviceToken: z.string().exactOptional(),
  processingUrl: z.string().exactOptional(),
  authorizedAmount: sumSchema,
  /** What the service approved; 0 while nothing is. */
  approvedAmount: sumSchema,
  /** Confirmed refunds, ours and those made in the service's own console. */
  refundedAmount: sumSchema,
  refunds: z.array(refundSchema).readonly(),
  /** The service's tokens of refunds that callbacks reported as declined. */
  refundDeclinesReported: z.array(z.string()).readonly(),
  disputes: z.array(disputeSchema).readonly(),
  captureOrVoid: captureOrVoidSchema.exactOptional(),
  /** Our alias of the recurring token that the service gave for this payment. */
  recurringToken: z.string().exactOptional(),
  sanitizedMask: z.string().exactOptional(),
  declineReason: z.string().exactOptional(),
  /** Why nothing was charged, where the payment has failed. */
  failure: paymentFailureSchema.exactOptional(),
  /** Errors of the latest refused attempt; while its outcome is unknown, of a refusal that no inquiry has confirmed. */
  errors: z.array(apiErrorSchema).readonly(),
  ...deferredCallbacksShape,
  ...reviewableShape(reviewCodeSchema),
});
export type Payment = z.infer<typeof paymentSchema>;

/** Undefined before the payment is requested. */
export type PaymentState = Payment | undefined;

/** True while the outcome of the creation is unknown. */
export const isPaymentAwaited = ({ phase }: Pick<Payment, 'phase'>): boolean =>
  phase === 'requested' || phase === 'unresolved';

export const isDecided = ({ state }: Refund): boolean => state === 'approved' || state === 'declined';

/** The refund without an outcome: one at a time, so that what the service shows can be recognised as its effect. */
export const undecidedRefund = ({ refunds }: Payment): Refund | undefined =>
  refunds.find((refund) => !isDecided(refund));

/** Sum of refunds that are submitted and not decided. */
export const reservedAmount = ({ refunds }: Payment): number =>
  refunds.filter((refund) => !isDecided(refund)).reduce((sum, refund) => sum + refund.amount, 0);

/** What went back and is known of no refund of ours: it was made elsewhere, or is one that was given up. */
export const refundedElsewhere = ({ refunds, refundedAmount }: Payment): number =>
  refunds
    .filter(({ state }) => state === 'approved')
    .reduce((sum, { amount }) => Math.max(0, sum - amount), refundedAmount);

export const isPaidPhase = ({ phase }: Pick<Payment, 'phase'>): boolean =>
  phase === 'approved' || phase === 'refunded';

/** What is approved, or was asked for. */
export const amountOf = ({ approvedAmount, terms }: Payment): number =>
  approvedAmount > 0 ? approvedAmount : terms.amount;

/** Takes steps in order, each on the payment after the previous one. */
export const inSteps = (
  payment: Payment,
  ...steps: ((payment: Payment) => readonly PaymentEvent[])[]
): PaymentEvent[] => inOrder<Payment, PaymentEvent>(payment, evolve, steps);

/** What may still be refunded, minor units: of an approved payment only, and nothing of what its customer's bank wants back. */
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

/** True where the machine allows the event now. */
export const isAllowed = (payment: Payment, event: PaymentMachineEvent): boolean =>
  paymentWalk.next(machineStateOf(payment), event) !== undefined;

/**
 * The state after an event.
 *
 * @throws InvariantViolation where the machine does not allow the event: the stream is damaged, or the code is.
 */
export function evolve(state: PaymentState, event: PaymentEvent): Payment {
  if (state === undefined) return begin(event);
  if (isBeginning(event)) throw new InvariantViolation(`${event.type} came after the beginning`);
  const changed = apply(state, event);
  const next = paymentWalk.require(machineStateOf(state), toMachineEvent(changed, event));
  const payment = { ...changed, phase: phaseOf(next) };
  // The calls that the fold keeps are those that the machine is in.
  const { lifecycle, refund } = machineStateOf(payment);
  if (lifecycle !== next.lifecycle || refund !== next.refund)
    throw new InvariantViolation(`${event.type} led to ${lifecycle}, ${refund}; the machine says otherwise`);
  return payment;
}

function begin(event: PaymentEvent): Payment {
  switch (event.type) {
    case 'PaymentRequested':
      return { ...event.data, phase: 'requested', ...nothingYet };
    case 'PaymentAdopted':
      return adopt(event.data);
    default:
      throw new InvariantViolation(`${event.type} came before the beginning`);
  }
}

const nothingYet = {
  authorizedAmount: 0,
  approvedAmount: 0,
  refundedAmount: 0,
  refunds: [],
  refundDeclinesReported: [],
  disputes: [],
  errors: [],
  ...noDeferredCallbacks,
  ...noReviews,
};

function adopt(data: PaymentEventOf<'PaymentAdopted'>['data']): Payment {
  const { environment, team, wallet, account, terms, serviceToken, status } = data;
  const { providerOrderNumber = serviceToken, authorizedAmount, refundedAmount } = data;
  const { processingUrl, recurringToken, sanitizedMask, declineReason } = data;
  return {
    environment,
    team,
    wallet,
    ...omitUndefined({ notPayable: data.payable === true ? undefined : (true as const) }),
    terms,
    serviceToken,
    ...nothingYet,
    authorizedAmount,
    refundedAmount,
    ...omitUndefined({ processingUrl, recurringToken, sanitizedMask, declineReason }),
    // No request of a team leads here, and no call of ours is under way.
    askedBy: '',
    fingerprint: '',
    attempt: { number: 1, account, providerOrderNumber, sendBy: 0, answerBy: 0, quietUntil: 0 },
    phase: status === 'pending' && authorizedAmount > 0 ? 'authorized' : status,
    approvedAmount: status === 'approved' || status === 'refunded' ? terms.amount : 0,
  };
}

type Beginning = PaymentEventOf<BeginningType>;
const isBeginning = (event: PaymentEvent): event is Beginning =>
  event.type === 'PaymentRequested' || event.type === 'PaymentAdopted';
type LaterEvent = Exclude<PaymentEvent, Beginning>;

/** The event as the machine sees it. `after` is the payment with the event's amounts applied. */
export function toMachineEvent(after: Payment, event: LaterEvent): PaymentMachineEvent {
  switch (event.type) {
    case 'RefundApproved':
    case 'ExternalRefundObserved':
      return {
        type: event.type,
        inFull: after.approvedAmount > 0 && after.refundedAmount >= after.approvedAmount,
      };
    case 'FinalStatusRevised':
      return { type: event.type, to: event.data.to };
    default:
      return { type: event.type };
  }
}

function apply(state: Payment, event: LaterEvent): Payment {
  switch (event.type) {
    case 'AttemptAccepted':
      return accept(state, event);
    case 'AttemptRefused':
    case 'AttemptUnresolved':
      return { ...state, errors: event.data.errors ?? [] };
    case 'AttemptStarted':
      return { ...state, attempt: event.data.attempt };
    case 'PaymentAuthorized':
      return { ...state, ...maskAndReason(event.data), authorizedAmount: event.data.authorizedAmount };
    case 'PaymentApproved':
      return {
        ...state,
        ...maskAndReason(event.data),
        authorizedAmount: 0,
        approvedAmount: event.data.amount,
      };
    case 'PaymentDeclined':
    case 'PaymentVoided':
      return { ...state, ...maskAndReason(event.data), authorizedAmount: 0 };
    case 'PaymentExpired':
      return { ...state, authorizedAmount: 0 };
    case 'CaptureSubmitted':
    case 'VoidSubmitted':
      return submitCaptureOrVoid(state, event);
    case 'CaptureRefused':
    case 'VoidRefused':
      return endCaptureOrVoid(state, { state: 'refused', refused: event.data });
    case 'CaptureUnresolved':
    case 'VoidUnresolved':
      return endCaptureOrVoid(state, { state: 'unresolved' });
    case 'RefundSubmitted':
      return submitRefund(state, event);
    case 'RefundAccepted': {
      const { refundToken, serviceRefundToken } = event.data;
      return changeRefund(state, refundToken, { state: 'accepted', serviceRefundToken });
    }
    case 'RefundApproved':
      return approveRefund(state, event);
    case 'RefundDeclined':
      return declineRefund(state, event);
    case 'RefundUnresolved':
      return keepUnconfirmed(state, event);
    case 'RefundDeclineReported':
      return noteDeclineReported(state, event);
    case 'ExternalRefundObserved':
      return { ...state, refundedAmount: state.refundedAmount + event.data.amount };
    case 'FinalStatusRevised':
      return revise(state, event);
    case 'AdoptionDeclaredPayable':
      return declarePayable(state);
    case 'DisputeOpened':
    case 'DisputeChanged':
    case 'DisputeWon':
    case 'DisputeLost':
      return { ...state, disputes: afterDispute(state.disputes, event) };
    case 'RecurringTokenIssued':
      return { ...state, recurringToken: event.data.recurringToken };
    case 'CallbackDeferred':
      return { ...state, ...afterDeferred(state, event.data) };
    case 'CallbackInquired':
      return { ...state, ...afterInquired(state, event.data) };
    case 'ReviewOpened':
      return { ...state, ...afterOpened(state, event.data) };
    case 'ReviewResolutionProposed':
      return { ...state, ...afterProposed(state, event.data) };
    case 'ReviewResolved':
      return closeReview(state, event);
    case 'AttemptNotSent':
    case 'AttemptNotFound':
    case 'PaymentPending':
      return state;
    case 'PaymentFailed':
      return { ...state, failure: event.data.reason };
    default:
      return unreachable(event);
  }
}

function keepUnconfirmed(state: Payment, { data }: PaymentEventOf<'RefundUnresolved'>): Payment {
  const { refundToken, errors: unconfirmed } = data;
  return changeRefund(state, refundToken, { state: 'unresolved', ...omitUndefined({ unconfirmed }) });
}

const maskAndReason = (data: { sanitizedMask?: string | undefined; declineReason?: string | undefined }) =>
  omitUndefined({ sanitizedMask: data.sanitizedMask, declineReason: data.declineReason });

function accept(state: Payment, { data }: PaymentEventOf<'AttemptAccepted'>): Payment {
  const { serviceToken, processingUrl } = data;
  return { ...state, ...omitUndefined({ processingUrl }), serviceToken, errors: [] };
}

function submitCaptureOrVoid(
  state: Payment,
  { type, data }: PaymentEventOf<'CaptureSubmitted' | 'VoidSubmitted'>,
): Payment {
  const operation = type === 'CaptureSubmitted' ? 'capture' : 'void';
  const { number = 0, repeats = 0 } = state.captureOrVoid ?? {};
  const repeated = state.phase === 'authorized' ? {} : { repeats: repeats + 1 };
  const captureOrVoid = { ...data, operation, number: number + 1, ...repeated, state: 'submitted' } as const;
  return { ...state, captureOrVoid };
}

function endCaptureOrVoid(state: Payment, end: Pick<CaptureOrVoid, 'state' | 'refused'>): Payment {
  if (state.captureOrVoid === undefined)
    throw new InvariantViolation('a call ended that was never submitted');
  return { ...state, captureOrVoid: { ...state.captureOrVoid, ...end } };
}

/** The provider's terms that a person accepted hold from now on. */
function closeReview(state: Payment, event: PaymentEventOf<'ReviewResolved'>): Payment {
  const { number, resolution } = event.data;
  const about = state.discrepancies.find((each) => each.number === number);
  const amount = about?.kind === 'terms_disagree' && resolution === 'accept_theirs' && about.theirs?.amount;
  return {
    ...resetRepeats(state, event),
    ...afterResolved(state, event.data),
    ...(typeof amount === 'number' && { terms: { ...state.terms, amount } }),
  };
}

/** After a review, submissions without an outcome are counted from zero. */
function resetRepeats(state: Payment, { data: { code } }: PaymentEventOf<'ReviewResolved'>): Payment {
  const isAboutCall = code === 'capture_unresolved' || code === 'void_unresolved';
  if (!isAboutCall || state.captureOrVoid === undefined) return state;
  return { ...state, captureOrVoid: { ...state.captureOrVoid, repeats: 0 } };
}

const declarePayable = ({ notPayable: _, ...payable }: Payment): Payment => payable;

function declineRefund(state: Payment, { data }: PaymentEventOf<'RefundDeclined'>): Payment {
  const { refundToken, ...declined } = data;
  return limitErrors(changeRefund(state, refundToken, { state: 'declined', declined }));
}

const noteDeclineReported = (state: Payment, { data }: PaymentEventOf<'RefundDeclineReported'>): Payment => ({
  ...state,
  refundDeclinesReported: [...state.refundDeclinesReported, data.serviceRefundToken],
});

function submitRefund(state: Payment, { data }: PaymentEventOf<'RefundSubmitted'>): Payment {
  if (state.refunds.some(({ refundToken }) => refundToken === data.refundToken))
    throw new InvariantViolation('a refund was submitted twice');
  return { ...state, refunds: [...state.refunds, { ...data, state: 'submitted' }] };
}

function approveRefund(state: Payment, { data }: PaymentEventOf<'RefundApproved'>): Payment {
  const { refundToken, serviceRefundToken } = data;
  const changed = changeRefund(state, refundToken, {
    state: 'approved',
    ...omitUndefined({ serviceRefundToken }),
  });
  const amount = changed.refunds.find((refund) => refund.refundToken === refundToken)?.amount ?? 0;
  return { ...changed, refundedAmount: state.refundedAmount + amount };
}

function changeRefund(
  state: Payment,
  refundToken: string,
  change: Pick<Refund, 'state'> & Partial<Pick<Refund, 'serviceRefundToken' | 'unconfirmed' | 'declined'>>,
): Payment {
  const refund = state.refunds.find((candidate) => candidate.refundToken === refundToken);
  if (refund === undefined) throw new InvariantViolation('a refund was settled that was never submitted');
  if (isDecided(refund)) throw new InvariantViolation('a refund was settled twice');
  const { unconfirmed: _, ...known } = refund;
  const refunds = state.refunds.map((each) => (each === refund ? { ...known, ...change } : each));
  return { ...state, refunds };
}

/** Latest first, as many errors as there is room for. */
function limitErrors(state: Payment): Payment {
  let room = refundErrorsLengthMax;
  const hasRoom = (error: ApiError) => (room -= JSON.stringify(error).length) >= 0;
  const latestFirst = state.refunds.toReversed().map((refund) => {
    const { declined } = refund;
    return declined === undefined
      ? refund
      : { ...refund, declined: { ...declined, errors: declined.errors.filter(hasRoom) } };
  });
  return { ...state, refunds: latestFirst.reverse() };
}

function revise(state: Payment, { data }: PaymentEventOf<'FinalStatusRevised'>): Payment {
  const { to, amount, refundedAmount, declineReason, serviceToken } = data;
  const isPaid = to === 'approved' || to === 'refunded';
  const approvedAmount = isPaid ? (amount ?? state.approvedAmount) : 0;
  // The reasons of the status that no longer holds go with it.
  const { declineReason: _reason, failure: _failure, ...rest } = state;
  return {
    ...rest,
    ...omitUndefined({ declineReason, serviceToken }),
    authorizedAmount: 0,
    approvedAmount,
    refundedAmount: refundedAmount ?? state.refundedAmount,
  };
}
