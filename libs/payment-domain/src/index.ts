export * from './event-metadata.ts';
export * from './invariant.ts';
export * from './payment-commands.ts';
export * from './payment-decide.ts';
export * from './payment-events.ts';
export * from './payment-machine.ts';
export * from './payment-state.ts';
export * from './team.ts';
