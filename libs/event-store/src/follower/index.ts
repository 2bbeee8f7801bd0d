export * from './batch-age.ts';
export * from './checkpoint.ts';
export * from './failed-streams.ts';
export * from './folded-states.ts';
export * from './follow.ts';
export { lagSeconds } from './lag.ts';
export * from './loop-share.ts';
