export * from './accounts/accounts.ts';
export { type CallTimes, defaultCallTimes } from './calls/call-times.ts';
export * from './command-service.ts';
export { resolutionRequestSchema } from './routes/review-request.ts';
export { paymentRequestSchema } from './routes/payment-request.ts';
export type { Refusal } from './routes/route-kit.ts';
export * from './accounts/account.ts';
