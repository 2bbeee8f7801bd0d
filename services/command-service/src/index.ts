export {
  type AccountsFile,
  type FileDifferences,
  changeAccount,
  readAccountChanges,
  requestReload,
} from './accounts/account-changes.ts';
export * from './accounts/accounts.ts';
export { forgetCustomerOf, isCustomerKept, remainingPlaces, remainingTexts } from './aggregates/customers.ts';
export { checkDataSecrets, requireDataSecrets, retireDataSecret } from './aggregates/data-secrets.ts';
export { rewrapRecurringTokens } from './aggregates/recurring-tokens.ts';
export { nameOfInstallation } from './aggregates/installation.ts';
export { inquiryLimits } from './accounts/account.ts';
export { publishDeadLettersAgain, readDeadLetters } from './callbacks/dead-letters.ts';
export * from './command-service.ts';
export { type InquiryScheduleHealth } from './inquiries/inquiry-schedule.ts';
export { type Books } from './reconciliation/books.ts';
export { createJournal, requestReconciliation } from './reconciliation/journal.ts';
export type { ReconciliationHealth } from './reconciliation/reconciler.ts';
export * from './adoption/adopt-payments.ts';
export { createAskAccount } from './inquiries/ask-account.ts';
export { createFingerprints } from './tokens.ts';
export { whileAble } from './while-able.ts';
