export { reviewListSchema, paymentExportSchema, paymentListSchema, payoutListSchema } from './list-query.ts';
export * from './query-service.ts';
export { totalsQuerySchema } from './totals-query.ts';
