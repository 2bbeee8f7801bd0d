export * from './check.ts';
export * from './projector.ts';
export * from './rebuild.ts';
export { streamsPerSecondMax } from './remove-views.ts';
