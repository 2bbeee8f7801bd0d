export * from './account-changes.ts';
export * from './change-account.ts';
export * from './merchant-account.ts';
export * from './start-epoch.ts';
