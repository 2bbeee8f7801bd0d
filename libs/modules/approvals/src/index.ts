export * from './payout-approval.ts';
