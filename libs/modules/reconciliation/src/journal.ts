/** The list of all reconciliations in the event store: requests and results. */
import { type EventStore, type RecordedEvent } from '@tollgate/event-store';
import { type Environment, type Person, deriveToken } from '@tollgate/core';
import {
  type ReconciliationJournalEvent,
  type ReconciliationRequest,
  type ReconciliationSummary,
  decodeReconciliationJournalEvent,
  differenceCountOf,
  versionOfReconciliationJournalEvent,
  reconciliationJournal,
  reconciliationTokenPrefix,
} from './reconciliation.ts';
import { type Clock, type Ids, omitUndefined } from '@tollgate/service-kit';
import { type ReconciledDays, afterRun } from './schedule.ts';

interface JournalDependencies {
  store: EventStore;
  clock: Clock;
  ids: Ids;
}

/** Requests a run: the gateway with the lease carries it out. */
export async function requestReconciliation(
  deps: JournalDependencies,
  wanted: Pick<ReconciliationRequest, 'environment' | 'account' | 'day' | 'isDryRun' | 'by'>,
  actor?: Person,
): Promise<ReconciliationRequest> {
  const { environment, account, day } = wanted;
  const token = deriveToken(reconciliationTokenPrefix, [environment, account, day, deps.ids.uuid()]);
  const request = { ...wanted, token, requestedAt: deps.clock.now() };
  await append(deps, { type: 'ReconciliationRequested', data: request }, actor);
  return request;
}

/** A repeated report of a run, after a lost answer, changes nothing. */
export const reportReconciliation = (deps: JournalDependencies, summary: ReconciliationSummary) =>
  append(deps, { type: 'ReconciliationReported', data: summary });

/** No expected revision, so that no process waits for another: a duplicate has the same token and counts once. */
async function append(
  { store, clock, ids }: JournalDependencies,
  event: ReconciliationJournalEvent,
  actor?: Person,
) {
  const schemaVersion = versionOfReconciliationJournalEvent(event);
  const metadata = { schemaVersion, recordedAt: clock.now(), ...omitUndefined({ actor }) };
  await store.append(reconciliationJournal, [{ id: ids.uuid(), ...event, metadata }], 'any');
}

/** When the last complete run of each day of an account began. */
export async function lastReconciled(deps: JournalDependencies, environment: Environment, account: string) {
  const journal = createJournal(deps);
  await journal.refresh();
  const days = journal.daysOf(environment, account);
  return (day: string): number | undefined => days.get(day)?.completedAt;
}

export type Journal = ReturnType<typeof createJournal>;

export function createJournal({ store }: Pick<JournalDependencies, 'store'>) {
  const open = new Map<string, ReconciliationRequest>();
  const days = new Map<string, ReconciledDays>();
  const keyOf = (environment: string, account: string) => `${environment}/${account}`;
  let next = 0;
  let reading = Promise.resolve();

  function apply(recorded: RecordedEvent): void {
    const { type, data } = decodeReconciliationJournalEvent(recorded);
    next = recorded.revision + 1;
    if (type === 'ReconciliationRequested') {
      open.set(data.token, data);
      return;
    }
    if (!open.delete(data.token)) return;
    const key = keyOf(data.environment, data.account);
    days.set(key, afterRun(days.get(key) ?? new Map(), data, differenceCountOf(data.counts)));
  }

  async function read(): Promise<void> {
    for await (const recorded of store.read(reconciliationJournal, { from: next })) apply(recorded);
  }

  const byUrgency = (a: ReconciliationRequest, b: ReconciliationRequest) =>
    Number(b.by === 'person') - Number(a.by === 'person') || a.requestedAt - b.requestedAt;

  return {
    // A read under way may have passed the end before the caller's own request was recorded.
    refresh: (): Promise<void> => (reading = reading.catch(() => undefined).then(read)),
    /** Requests whose runs have not ended: those of people first, then the oldest. */
    openOf: (environment: Environment, account: string): ReconciliationRequest[] =>
      [...open.values()]
        .filter((request) => request.environment === environment && request.account === account)
        .sort(byUrgency),
    /** Requests for accounts that are not among these. */
    openOfOthers: (isKnown: (request: ReconciliationRequest) => boolean): ReconciliationRequest[] =>
      [...open.values()].filter((request) => !isKnown(request)),
    daysOf: (environment: Environment, account: string): ReconciledDays =>
      days.get(keyOf(environment, account)) ?? new Map(),
  };
}
