export * from './callback-records.ts';
export * from './consumer/gateway-records.ts';
export * from './dispute-records.ts';
export * from './payment-records.ts';
export * from './payout-records.ts';
export * from './record-format.ts';
export * from './topics.ts';
