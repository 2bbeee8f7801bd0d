import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { EventStore, RecordedEvent } from './event-store.ts';
import { decideAndAppend, decisionTriesMax, loadState, type Decision } from './load-decide-append.ts';
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
  it('gives the initial state of a stream that does not exist', async () => {
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

  it('continues from what was loaded before', async () => {
    const given = await givenAccount(5, 6);
    const before = await loadState({ ...account, ...given });
    await given.store.append(given.stream, account.toNewEvents([10]), 1);
    expect(await loadState({ ...account, ...given }, before)).toEqual({ state: 21, revision: 2 });
  });
});

describe('decideAndAppend', () => {
  it('appends what was decided and gives the state after it', async () => {
    const given = await givenAccount(10);
    const outcome = await decideAndAppend({ ...account, ...given, decide: withdraw(4) });
    const position = expect.any(String);
    expect(outcome).toEqual({ kind: 'decided', state: 6, events: [-4], revision: 1, position });
    expect(await readData(given.store, given.stream)).toEqual([10, -4]);
  });

  it('creates the stream with the first decision', async () => {
    const given = await givenAccount();
    const decide = () => ({ kind: 'events', events: [1, 2] }) as const;
    expect(await decideAndAppend({ ...account, ...given, decide })).toMatchObject({ state: 3, revision: 1 });
  });

  it('appends nothing for a refusal, and gives it back with the state that it is about', async () => {
    const given = await givenAccount(3);
    const outcome = await decideAndAppend({ ...account, ...given, decide: withdraw(4) });
    expect(outcome).toEqual({ kind: 'refused', state: 3, refusal: 'too-little' });
    expect(await readData(given.store, given.stream)).toEqual([3]);
  });

  it('appends nothing where the decision has no event', async () => {
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

  it('gives new ids to the events of each try', async () => {
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

  it('gives up, retryable, when others are faster again and again', async () => {
    const given = await givenAccount(1_000);
    const store = rivalled(given.store, given.stream, Infinity);
    const outcome = decideAndAppend({ ...account, ...given, store, decide: withdraw(1) });
    await expect(outcome).rejects.toMatchObject({ code: 'stream_contended', retryable: true });
    expect(await readData(given.store, given.stream)).toHaveLength(1 + decisionTriesMax);
  });
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
