export * from './batch-age.ts';
export * from './checkpoint.ts';
export * from './event-counts.ts';
export * from './failed-streams.ts';
export * from './folded-states.ts';
export * from './follow.ts';
export { lagSeconds } from './lag.ts';
export * from './local-file.ts';
export * from './local-projection.ts';
