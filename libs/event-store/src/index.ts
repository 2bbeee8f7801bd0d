export * from './append-arguments.ts';
export * from './embedded/embedded-event-store.ts';
export * from './errors.ts';
export { type EventStoreDbConnection } from './eventstoredb/connection.ts';
export { type ConnectionString, parseConnectionString } from './eventstoredb/connection-string.ts';
export * from './eventstoredb/eventstoredb-event-store.ts';
export * from './event-store.ts';
export * from './load-decide-append.ts';
export * from './lease.ts';
