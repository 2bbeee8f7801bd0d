export { describeEventStore, type OpenEventStore } from './event-store.contract.ts';
export { probe, type SubscriptionProbe } from './subscription-probe.ts';
export { temporaryFile, temporaryStore } from './temporary-store.ts';
