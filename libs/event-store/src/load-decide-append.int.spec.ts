import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { EventStore, RecordedEvent } from './event-store.ts';
import {
  createRecentStates,
  decideAndAppend,
  decisionTriesMax,
  loadState,
  type Decision,
} from './load-decide-append.ts';
import { freshStream, givenEvent, givenEvents, readData } from './testing/given-events.ts';
import { temporaryStore } from './testing/temporary-store.ts';

/** Money on an account: the events are amounts, the state is their sum. */
const account = {
  initial: 0,
  decode: (recorded: RecordedEvent) => Number(recorded.data),
  evolve: (balance: number, amount: number) => balance + amount,
  toNewEvents: (amounts: readonly number[]) => amounts.map((amount) => givenEvent(amount)),
};

const withdraw =
  (amount: number) =>
  (balance: number): Decision<number, 'too-little'> => {
    return balance >= amount
      ? { kind: 'events', events: [-amount] }
      : { kind: 'refused', refusal: 'too-little' };
  };

const nothing = (): Decision<number, never> => ({ kind: 'events', events: [] });

async function givenAccount(...amounts: number[]): Promise<{ store: EventStore; stream: string }> {
  const store = await temporaryStore();
  const stream = freshStream();
  if (amounts.length > 0) await store.append(stream, account.toNewEvents(amounts), 'no-stream');
  return { store, stream };
}

describe('loadState', () => {
  it('returns the initial state of a stream that does not exist', async () => {
    expect(await loadState({ ...account, ...(await givenAccount()) })).toEqual({
      state: 0,
      revision: 'no-stream',
    });
  });

  it('folds all events and returns the last revision', async () => {
    expect(await loadState({ ...account, ...(await givenAccount(5, 6, 7)) })).toEqual({
      state: 18,
      revision: 2,
    });
  });

  it('continues from an earlier load', async () => {
    const given = await givenAccount(5, 6);
    const before = await loadState({ ...account, ...given });
    await given.store.append(given.stream, account.toNewEvents([10]), 1);
    expect(await loadState({ ...account, ...given }, before)).toEqual({ state: 21, revision: 2 });
  });
});

describe('decideAndAppend', () => {
  it('appends the decided events and returns the state after them', async () => {
    const given = await givenAccount(10);
    const outcome = await decideAndAppend({ ...account, ...given, decide: withdraw(4) });
    const position = expect.any(String);
    expect(outcome).toEqual({ kind: 'decided', state: 6, events: [-4], revision: 1, position });
    expect(await readData(given.store, given.stream)).toEqual([10, -4]);
  });

  it('appends nothing for a refusal, and returns it with its state', async () => {
    const given = await givenAccount(3);
    const outcome = await decideAndAppend({ ...account, ...given, decide: withdraw(4) });
    expect(outcome).toEqual({ kind: 'refused', state: 3, refusal: 'too-little' });
    expect(await readData(given.store, given.stream)).toEqual([3]);
  });

  it('appends nothing if the decision has no event', async () => {
    const given = await givenAccount(3);
    const outcome = await decideAndAppend({ ...account, ...given, decide: nothing });
    expect(outcome).toEqual({ kind: 'unchanged', state: 3, revision: 0 });
  });

  it('decides again on the newer state when another writer was faster', async () => {
    const given = await givenAccount(10);
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => decideAndAppend({ ...account, ...given, decide: withdraw(3) })),
    );
    expect(outcomes.filter(({ kind }) => kind === 'decided')).toHaveLength(3);
    expect(outcomes.filter(({ kind }) => kind === 'refused')).toHaveLength(5);
    expect(await loadState({ ...account, ...given })).toEqual({ state: 1, revision: 3 });
  });

  it('uses new ids for the events of each try', async () => {
    const given = await givenAccount(10);
    const ids: string[] = [];
    const toNewEvents = (amounts: readonly number[]) => {
      const id = randomUUID();
      ids.push(id);
      return amounts.map((amount) => ({ ...givenEvent(amount), id }));
    };
    const rival = rivalled(given.store, given.stream, 1);
    await decideAndAppend({ ...account, ...given, toNewEvents, store: rival, decide: withdraw(1) });
    expect(new Set(ids).size).toBe(2);
  });

  it('gives up, retryable, if others are faster repeatedly', async () => {
    const given = await givenAccount(1_000);
    const store = rivalled(given.store, given.stream, Infinity);
    const outcome = decideAndAppend({ ...account, ...given, store, decide: withdraw(1) });
    await expect(outcome).rejects.toMatchObject({ code: 'stream_contended', retryable: true });
    expect(await readData(given.store, given.stream)).toHaveLength(1 + decisionTriesMax);
  });
});

// A creation read its own stream three times: before it was begun, before it was announced, before its outcome was recorded.
describe("the process's own last state is cached", () => {
  const deposit = (amount: number) => () => ({ kind: 'events', events: [amount] }) as const;

  async function givenRemembering(...amounts: number[]) {
    const { store, stream } = await givenAccount();
    const { store: watched, reads } = countReads(store);
    const recent = createRecentStates<number>();
    const remembering = { ...account, store: watched, stream, recent };
    if (amounts.length > 0)
      await decideAndAppend({
        ...remembering,
        isNew: true,
        decide: () => ({ kind: 'events', events: amounts }),
      });
    return { remembering, reads, store, stream };
  }

  it('is forgotten if the stream has become shorter, as after a restored backup', async () => {
    const { remembering, stream, store } = await givenRemembering(10);
    remembering.recent.set(stream, { state: 500, revision: 7 });
    const outcome = await decideAndAppend({ ...remembering, decide: withdraw(4) });
    expect(outcome).toMatchObject({ kind: 'decided', state: 6, revision: 1 });
    expect(remembering.recent.get(stream)).toEqual({ state: 6, revision: 1 });
    expect(await readData(store, stream)).toEqual([10, -4]);
  });

  it('a stream that begins here is not read, nor are those that this process has appended to', async () => {
    const { remembering, reads } = await givenRemembering(10);
    expect(await decideAndAppend({ ...remembering, decide: withdraw(4) })).toMatchObject({ state: 6 });
    expect(reads()).toEqual([]);
  });

  it('appends of others are read before it decides again', async () => {
    const { remembering, reads, store, stream } = await givenRemembering(10);
    await store.append(stream, account.toNewEvents([-8]), 0);
    const outcome = await decideAndAppend({ ...remembering, decide: withdraw(4) });
    expect([outcome, reads()]).toEqual([{ kind: 'refused', state: 2, refusal: 'too-little' }, [1]]);
  });

  it('no refusal and no no-op is based on a stale state', async () => {
    const { remembering, reads, store, stream } = await givenRemembering(3);
    await store.append(stream, account.toNewEvents([7]), 0);
    expect(await decideAndAppend({ ...remembering, decide: withdraw(4) })).toMatchObject({ state: 6 });
    await store.append(stream, account.toNewEvents([1]), 2);
    const unchanged = await decideAndAppend({ ...remembering, decide: nothing });
    expect(unchanged).toEqual({ kind: 'unchanged', state: 7, revision: 3 });
    expect(reads()).toEqual([1, 3]);
  });

  it('one that is assumed to be new but exists is read', async () => {
    const { remembering, reads, store, stream } = await givenRemembering();
    await store.append(stream, account.toNewEvents([5]), 'no-stream');
    expect(await decideAndAppend({ ...remembering, isNew: true, decide: deposit(1) })).toMatchObject({
      state: 6,
      revision: 1,
    });
    expect(reads()).toEqual([0]);
  });

  it('a load reads on, so that it always returns the current state', async () => {
    const { remembering, reads, store, stream } = await givenRemembering(5, 6);
    await store.append(stream, account.toNewEvents([10]), 1);
    expect(await loadState(remembering)).toEqual({ state: 21, revision: 2 });
    expect(reads()).toEqual([2]);
  });

  it('an append with an unknown outcome does not change the cache', async () => {
    const { remembering, store, stream } = await givenRemembering(10);
    const lost = { ...remembering, store: losingAnswers(store) };
    await expect(decideAndAppend({ ...lost, decide: withdraw(4) })).rejects.toThrow('lost');
    expect(await decideAndAppend({ ...remembering, decide: withdraw(6) })).toMatchObject({ state: 0 });
    expect(await readData(store, stream)).toEqual([10, -4, -6]);
  });

  it('the later of two states stays, in any order', async () => {
    const { remembering, stream } = await givenRemembering(1);
    const slow = loadState(remembering);
    await decideAndAppend({ ...remembering, decide: deposit(2) });
    await slow;
    expect(remembering.recent.get(stream)).toEqual({ state: 3, revision: 1 });
  });
});

/** Revisions that reads begin with. */
function countReads(store: EventStore) {
  const reads: (number | undefined)[] = [];
  const read: EventStore['read'] = (stream, options) => {
    reads.push(options?.from);
    return store.read(stream, options);
  };
  return { store: { ...store, read }, reads: () => reads };
}

const losingAnswers = (store: EventStore): EventStore => ({
  ...store,
  append: async (...append) => {
    await store.append(...append);
    throw new Error('the answer is lost');
  },
});

/** The store, with another writer who appends just before each of the first `times` appends. */
function rivalled(store: EventStore, stream: string, times: number): EventStore {
  let count = 0;
  return {
    ...store,
    append: async (...append) => {
      count += 1;
      if (count <= times) await store.append(stream, givenEvents(1), 'any');
      return store.append(...append);
    },
  };
}
