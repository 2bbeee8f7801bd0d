/** Callbacks of providers, without the clients that call them. */
export * from './payment-service/callback-capability.ts';
export { readCallback, redactCallback } from './payment-service/callback.ts';
