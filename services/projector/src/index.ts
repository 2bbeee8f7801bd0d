export * from './compare.ts';

export * from './rebuild.ts';
