export * from './event-publisher.ts';
