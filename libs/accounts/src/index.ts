/** Which merchant account takes a call, and when. Generic in the provider, which it hands out and cannot call. */
export * from './account.ts';
export * from './accounts.ts';
export { type InquiryPriority, createInquiryBudget } from './inquiry-budget.ts';
