export * from './document.ts';
export * from './headers.ts';
export * from '../topics/public-topics.ts';
