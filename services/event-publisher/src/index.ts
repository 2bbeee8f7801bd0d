export * from './event-publisher.ts';
export { publishedPrefixes } from './published-kinds.ts';
export * from './record-of.ts';
