export * from './command-service.ts';
