export * from './configuration/config.ts';
export * from './composition/gateway.ts';
