export * from './dispute.ts';
export * from './ledger.ts';
export * from './records.ts';
export * from './transfer.ts';
export * from './unmatched.ts';
export * from './unmatched-operations.ts';
