export * from './config.ts';
export * from './gateway.ts';
