export * from './inquiry-schedule.ts';
export * from './inquiry-shards.ts';
