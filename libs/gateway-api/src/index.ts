export * from './consumer/gateway-records.ts';
export * from './dispute-events.ts';
export * from './dispute.ts';
export * from './payment-events.ts';
export * from './payment.ts';
export { toJournalEntryOnTopic, toPublicJournalEntry, type JournalEntryOnTopic } from './journal.ts';
export * from './payout-events.ts';
export * from './payout.ts';
export { type PublicEvent } from './public-object.ts';
export * from './reconciliation.ts';
export { refundSchema, statusOfRefundPhase, toPublicRefund, type PublicRefund } from './refund.ts';
export { requestSchema, type PublicRequest } from './request.ts';
export {
  reviewEntrySchema,
  proposedByOf,
  toPublicReviewEntry,
  type PublicReviewEntry,
  type ReviewEntry,
} from './review.ts';

export * from './topics/callback-records.ts';
export * from './topics/record-format.ts';
export * from './topics/records.ts';
export * from './topics/topics.ts';
export { toIso, toPublicEvidence, toWholeUnits } from './values.ts';
export * from './webhook-endpoint.ts';
export * from './webhook.ts';
