export * from './callback-ingester.ts';
