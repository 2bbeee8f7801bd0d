/** The core's public names. Files that a caller needs in full are exported in full; of the others, only the names listed. */
export * from './accounts.ts';
export * from './aggregates/recurring-tokens.ts';
export { type RefundKey, refundKeyStream, refundKeyUsedSchema } from './aggregates/refund-keys.ts';
export * from './aggregates/repository.ts';
export * from './aggregates/subjects.ts';
export { foldOfPayments } from './aggregates/payments.ts';
export { createPayouts, type Payouts } from './aggregates/payouts.ts';
export * from './core.ts';
export * from './domain/aggregate.ts';
export * from './domain/event-metadata.ts';
export * from './domain/failed-inquiry.ts';
export * from './domain/next-inquiry-due.ts';
export * from './domain/invariant.ts';
export * from './domain/metadata.ts';
export * from './domain/ownership.ts';
export * from './domain/payment/inquiry-need.ts';
export * from './domain/payment/payment-commands.ts';
export * from './domain/payment/payment-events.ts';
export * from './domain/payment/payment-machine.ts';
export * from './domain/payment/payment-state.ts';
export * from './domain/payout/payout-commands.ts';
export * from './domain/payout/payout-events.ts';
export * from './domain/payout/payout-machine.ts';
export * from './domain/payout/payout-state.ts';
export * from './domain/requester.ts';
export { type Decision, events, refuse } from './domain/decision.ts';
export { isRefundedByWord, observeDiscrepancy, theirSide } from './domain/discrepancy.ts';
export { mayBePaid } from './domain/payment/creation.ts';
export {
  declineReasonOf,
  isPartOf,
  maskOf,
  refundedAmountOf,
  reservedByDiscrepancies,
  statusOf,
} from './domain/payment/observation.ts';
export { evolve } from './domain/payment/payment-evolve.ts';
export { doubtsAbout, mayBeMade, mayHaveBeenMade } from './domain/payment/refunds.ts';
export { resolutionsOf } from './domain/payment/resolutions.ts';
export { payoutResolutionsOf } from './domain/payout/payout-decide.ts';
export { mayBePaidOut } from './domain/payout/payout-observation.ts';
export {
  type CallOutcome,
  type CallTimes,
  type EndReason,
  endReasons,
  quietPeriodMs,
} from './domain/outbound-call/outbound-call.ts';
export * from './domain/review.ts';
export { type ResolveReview, type ReviewRefusal } from './domain/shared-inputs.ts';
export {
  cut,
  type Environment,
  environmentSchema,
  instantSchema,
  reportedSumSchema,
  textSchema,
} from './domain/values.ts';
export type * from './inquiry/due-inquiries.ts';
export { type InquiryResult } from './inquiry/inquiries.ts';
export { inquireNamed, type Listed } from './inquiry/inquire.ts';
export * from './operations/capture-or-void.ts';
export * from './operations/create-payment.ts';
export * from './operations/create-payout.ts';
export * from './operations/guard.ts';
export * from './operations/recorded-decision.ts';
export * from './operations/refund-payment.ts';
export * from './operations/resolve-review.ts';
export {
  inProgress,
  type NotBegun,
  type OriginRefusal,
  type OperationDependencies,
} from './operations/operation.ts';
export * from './outbound/ask-account.ts';
export { type QuietPeriods } from './outbound/quiet-periods.ts';
export { createSender } from './outbound/send-once.ts';
export * from './provider.ts';
export * from './tokens.ts';
