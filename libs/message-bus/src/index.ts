export * from './embedded/embedded-message-bus.ts';
export * from './errors.ts';
export * from './message-bus.ts';
