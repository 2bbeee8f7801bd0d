export * from './stored-payments.ts';
