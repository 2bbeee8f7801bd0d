export { attentionListSchema, paymentListSchema, payoutListSchema } from './list-query.ts';
export * from './query-service.ts';
