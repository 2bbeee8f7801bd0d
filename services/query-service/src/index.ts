export * from './query-service.ts';
export * from './feed/event-feed.ts';
export * from './requests/request-ledger.ts';
export * from './requests/request-record.ts';
