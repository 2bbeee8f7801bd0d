export * from './accounts/accounts.ts';
export { nameOfInstallation } from './aggregates/installation.ts';
export { inquiryLimits } from './accounts/account.ts';
export * from './command-service.ts';
export { type InquiryScheduleHealth } from './inquiries/inquiry-schedule.ts';
