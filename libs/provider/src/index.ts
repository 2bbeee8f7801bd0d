export * from './providers.ts';
export type { Connections } from './payment-service/client-options.ts';
