export { describeEventStore, type OpenEventStore } from './event-store.contract.ts';
export { probe, type SubscriptionProbe } from './subscription-probe.ts';
export { temporaryFile, temporaryStore } from './temporary-store.ts';
export { type TestServer, type TestServerOptions, startTestServer } from './eventstoredb-server/server.ts';
export type { AppendFault, ReceivedAppend, ServerFaults } from './eventstoredb-server/faults.ts';
export { appended } from './given-events.ts';
