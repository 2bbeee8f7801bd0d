export * from './query-service.ts';
export * from './requests/request-ledger.ts';
export * from './requests/request-record.ts';
