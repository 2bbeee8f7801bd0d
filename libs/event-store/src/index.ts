export * from './append-arguments.ts';
export * from './embedded/embedded-event-store.ts';
export * from './errors.ts';
export * from './event-store.ts';
export * from './load-decide-append.ts';
export * from './lease.ts';
