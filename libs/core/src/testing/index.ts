export { diesAnnounced, failingStore } from './failing-stores.ts';
export { createFakeProvider, type FakeProvider, type Operation } from './fake-provider.ts';
export {
  accountNamed,
  answered,
  caller,
  card,
  cause,
  type Harness,
  type Instance,
  patientTimes,
  payoutFor,
  quietMs,
  teaFor,
  times,
} from './harness.ts';
export { keepRecurringToken, recurringAlias } from './operation-cases.ts';
export { useHarness } from './use-harness.ts';
