export * from './values.ts';
export * from './schemas.ts';
export * from './errors.ts';
export * from './classify.ts';
export { PaymentServiceClientError, type PaymentServiceClientOptions } from './client-options.ts';
export * from './client.ts';
export * from './card-number.ts';
export * from './currencies.ts';
