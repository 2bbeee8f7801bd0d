export * from './eventually.ts';
export * from './fake-clock.ts';
export * from './fake-ids.ts';
export * from './program-environment.ts';
export * from './property-runs.ts';
export * from './receiver.ts';
export * from './scenario.ts';
export { zeroPageWith } from './lost-pages.ts';
