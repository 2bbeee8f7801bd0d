export * from './payment-histories.ts';
export * from './stored-payments.ts';
export * from './teams.ts';
