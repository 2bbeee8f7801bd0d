export * from './compare.ts';
export * from './projector.ts';
export * from './rebuild.ts';
