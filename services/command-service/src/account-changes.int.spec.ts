import { temporaryStore } from '@tollgate/event-store/testing';
import { StartupError, silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { type EventStore, StoreUnavailable } from '@tollgate/event-store';
import { describe, expect, it, onTestFinished } from 'vitest';
import { lastReconciled, reportReconciliation, requestReconciliation } from '@tollgate/reconciliation';
import {
  type AccountsFile,
  createAccountChanges,
  type LastReconciled,
  changeAccount,
  daysToReconcile,
  recordRestore,
  requestReload,
} from '@tollgate/merchant-accounts';
import type { AccountState } from '@tollgate/accounts';

const ada = { kind: 'person', name: 'ada', source: 'oidc' } as const;
const cause = { correlationId: 'req_1', causationId: 'req_1', actor: ada };
const nothing = { added: [], changed: [], removed: [] };
const depsOf = (store: EventStore) => {
  const deps = { store, clock: systemClock, ids: systemIds };
  const reconciled: LastReconciled = (environment, account) => lastReconciled(deps, environment, account);
  return { ...deps, lastReconciled: reconciled };
};

const change = (store: EventStore, state: AccountState) =>
  changeAccount(
    depsOf(store),
    { environment: 'sandbox', account: 'main', state, reason: 'maintenance', changedBy: 'ada' },
    cause,
  );

/** Reports a complete run that began at `startedAt`. */
async function reconcile(store: EventStore, day: string, startedAt: number): Promise<void> {
  const wanted = { environment: 'sandbox', account: 'main', day, isDryRun: false, by: 'person' } as const;
  const request = await requestReconciliation(depsOf(store), wanted, ada);
  const counts = { matched: 0, differing: 0, onlyHere: 0, onlyAtService: 0, onOtherDays: 0, underWay: 0 };
  const ended = { outcome: 'complete' as const, startedAt, endedAt: startedAt + 1, counts, sums: [] };
  await reportReconciliation(depsOf(store), { ...request, ...ended });
}

/** A process that follows the store. */
async function follow(store: EventStore, file?: AccountsFile) {
  const states: AccountState[] = [];
  const accounts = {
    setState: (_environment: string, _name: string, state: AccountState) => states.push(state),
    pauseAll: () => void states.push('paused'),
  };
  const changes = createAccountChanges({ store, accounts, file, log: silentLog });
  const stopping = new AbortController();
  onTestFinished(() => stopping.abort());
  await changes.catchUp();
  void changes.follow(stopping.signal);
  return { changes, states };
}

describe('changes of an account', () => {
  it('count in every process that runs, and in one that starts later', async () => {
    const store = await temporaryStore();
    const running = [await follow(store), await follow(store)];
    await change(store, 'paused');
    for (const { states } of running) await eventually(() => expect(states).toEqual(['paused']));
    const later = await follow(store);
    expect(later.states).toEqual(['paused']);
    expect(later.changes.of('sandbox', 'main')).toMatchObject({ state: 'paused', changedBy: 'ada' });
    await change(store, 'active');
    await eventually(() => expect(later.states).toEqual(['paused', 'active']));
  });

  // Seed 683: the account was paused after the API had answered that it was active again.
  it('cannot take effect after a later one, if the store gave no answer', async () => {
    const store = await temporaryStore();
    let takeEffect = () => Promise.resolve<unknown>(undefined);
    const hanging: EventStore = {
      ...store,
      append: (...given) => {
        takeEffect = () => store.append(...given);
        return Promise.reject(new StoreUnavailable('store_unavailable', 'no answer'));
      },
    };
    await expect(change(hanging, 'paused')).rejects.toMatchObject({ code: 'store_unavailable' });
    await change(store, 'active');
    expect(await takeEffect()).toMatchObject({ kind: 'conflict' });
    expect((await follow(store)).changes.of('sandbox', 'main')).toMatchObject({ state: 'active' });
  });

  it('pause every account after a restore, until the lost days are reconciled', async () => {
    const store = await temporaryStore();
    const { states } = await follow(store);
    await change(store, 'active');
    const now = systemClock.now();
    const restore = { restoredAt: now, lastEventAt: now, restoredBy: 'ada' };
    await recordRestore(depsOf(store), restore, cause);
    await eventually(() => expect(states).toEqual(['paused']));
    const day = new Date(now).toISOString().slice(0, 10);
    expect(daysToReconcile(restore)).toEqual([day]);
    expect(await change(store, 'active')).toEqual({ code: 'reconciliation_due', restore });
    await reconcile(store, day, now - 1);
    expect(await change(store, 'active')).toMatchObject({ code: 'reconciliation_due' });
    await reconcile(store, day, now);
    expect(await change(store, 'active')).toBeUndefined();
    await eventually(() => expect(states).toEqual(['paused', 'active']));
  });

  it('lose the days from the last event to the restore', () => {
    const restore = {
      lastEventAt: Date.UTC(2026, 10, 20, 23),
      restoredAt: Date.UTC(2026, 10, 22, 1),
      restoredBy: 'ada',
    };
    expect(daysToReconcile(restore)).toEqual(['2026-11-20', '2026-11-21', '2026-11-22']);
    expect(daysToReconcile({ ...restore, lastEventAt: restore.restoredAt + 1 })).toEqual(['2026-11-22']);
  });

  it('end in one state if requested concurrently', async () => {
    const store = await temporaryStore();
    const changes = ['draining', 'paused', 'active', 'paused'] as const;
    await Promise.all(changes.map((state) => change(store, state)));
    const recorded = await Array.fromAsync(store.read('merchant-accounts'));
    expect(recorded).toHaveLength(changes.length);
    const { states } = await follow(store);
    const ending = { AccountDrained: ['draining'], AccountPaused: ['paused'], AccountResumed: [] };
    expect(states).toEqual(ending[recorded.at(-1)!.type as keyof typeof ending]);
  });

  it('that are unreadable change nothing, and later ones apply', async () => {
    const store = await temporaryStore();
    const { states } = await follow(store);
    await change(store, 'paused');
    const odd = { id: systemIds.uuid(), type: 'AccountClosed', data: {}, metadata: { schemaVersion: 1 } };
    await store.append('merchant-accounts', [odd], 0);
    await eventually(() => expect(states).toEqual(['paused']));
  });
});

// The answer of a pause was that it counts, while the follower was asleep.
it('apply at once, and once, for a caller that catches up, regardless of the subscription', async () => {
  const store = await temporaryStore();
  const asleep = { ...store, async *subscribe() {} };
  const { changes, states } = await follow(asleep);
  for (const state of ['paused', 'draining', 'active', 'paused'] as const) await change(store, state);
  await Promise.all([changes.catchUp(), changes.catchUp()]);
  await change(store, 'active');
  await changes.catchUp();
  expect(states).toEqual(['paused', 'active']);
});

describe('the accounts file', () => {
  it('is read again once on request, even by a process that is starting meanwhile', async () => {
    const store = await temporaryStore();
    const reads: string[] = [];
    const file = (name: string): AccountsFile => ({
      compare: () => nothing,
      reload: () => (reads.push(name), nothing),
    });
    await follow(store, file('first'));
    await requestReload(depsOf(store), cause);
    await eventually(() => expect(reads).toEqual(['first']));
    await requestReload(depsOf(store), cause);
    await eventually(() => expect(reads).toEqual(['first', 'first']));
    await follow(store, file('later'));
    expect(reads).toEqual(['first', 'first', 'later']);
  });

  // A process that did not expect the error stopped following, and reported an account as paused that was not.
  it('that fails in any way does not hide a pause', async () => {
    const store = await temporaryStore();
    const reload = () => {
      throw new TypeError('a fault of ours');
    };
    const { changes, states } = await follow(store, { compare: () => nothing, reload });
    await requestReload(depsOf(store), cause);
    await eventually(() => expect(changes.fileFault()).toBe('a fault of ours'));
    await change(store, 'paused');
    await eventually(() => expect(states).toEqual(['paused']));
  });

  it('that cannot be used is reported until it can be', async () => {
    const store = await temporaryStore();
    const state = { isBroken: true };
    const reload = () => {
      if (state.isBroken) throw new StartupError('config_invalid', 'The accounts file is not JSON.');
      return nothing;
    };
    const { changes } = await follow(store, { compare: reload, reload });
    expect(changes.fileFault()).toBeUndefined();
    await requestReload(depsOf(store), cause);
    await eventually(() => expect(changes.fileFault()).toBe('The accounts file is not JSON.'));
    state.isBroken = false;
    await requestReload(depsOf(store), cause);
    await eventually(() => expect(changes.fileFault()).toBeUndefined());
  });
});
