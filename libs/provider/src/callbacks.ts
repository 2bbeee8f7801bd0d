/** What comes in from a provider, apart from the clients that call it: who reads a callback loads none of them. */
export * from './payment-service/callback-capability.ts';
export { readCallback, redactCallback } from './payment-service/callback.ts';
