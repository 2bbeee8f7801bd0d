export * from './dispute.ts';
export * from './ledger.ts';
export * from './records.ts';
export * from './transfer.ts';
