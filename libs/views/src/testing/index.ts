export * from './histories.ts';
export * from './payment-histories.ts';
export * from './payout-histories.ts';
