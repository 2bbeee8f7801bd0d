export * from './provider.ts';
export * from './providers.ts';
export * from './payment-service/callback-capability.ts';
export { readCallback, redactCallback } from './payment-service/callback.ts';
export type { Connections } from './payment-service/client-options.ts';
