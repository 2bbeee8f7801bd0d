export * from './audit.ts';
export * from './chain.ts';
export * from './entries.ts';
export * from './security-log.ts';
export * from './security-watch.ts';
export * from './team-changes.ts';
