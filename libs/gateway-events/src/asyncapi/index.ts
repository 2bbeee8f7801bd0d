export * from './document.ts';
export * from './headers.ts';
export * from './public-topics.ts';
