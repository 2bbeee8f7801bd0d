export * from './callback-records.ts';
export * from './payment-records.ts';
