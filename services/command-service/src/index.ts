export * from './accounts/accounts.ts';
export { nameOfInstallation } from './aggregates/installation.ts';
export { inquiryLimits } from './accounts/account.ts';
export * from './command-service.ts';
export { type InquiryScheduleHealth } from './inquiries/inquiry-schedule.ts';
export { type Books } from './reconciliation/books.ts';
export { requestReconciliation } from './reconciliation/journal.ts';
export type { ReconciliationHealth } from './reconciliation/reconciler.ts';
export { reconciledAfterDaysDefault } from './reconciliation/schedule.ts';
