export { type Account, type CallTimes, defaultCallTimes } from './account.ts';
export * from './command-service.ts';
