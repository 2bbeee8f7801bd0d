export * from './histories.ts';
export * from './payment-histories.ts';
export * from './payout-histories.ts';
export * from './unmatched-histories.ts';
