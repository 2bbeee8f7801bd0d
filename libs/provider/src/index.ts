export * from './provider.ts';
export * from './providers.ts';
export * from './payment-service/callback-capability.ts';
export { readCallback, redactCallback } from './payment-service/callback.ts';
