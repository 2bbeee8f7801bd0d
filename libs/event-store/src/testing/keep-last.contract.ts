import { eventually } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { type EventStore, type RecordedEvent, beginning } from '../event-store.ts';
import type { Stores } from './event-store.contract.ts';
import {
  appended,
  freshCategory,
  freshStream,
  givenEvent,
  givenEvents,
  readAll,
  readData,
} from './given-events.ts';

/** Of a stream that grew with `keepLast`. */
async function givenKept(store: EventStore, count: number, keepLast: number): Promise<string> {
  const stream = freshStream();
  await store.append(stream, givenEvents(count), 'no-stream', { keepLast });
  await eventually(async () => expect(await readAll(store, stream)).toHaveLength(keepLast));
  return stream;
}

export function describeKeepLast(given: Stores): void {
  // Each new view was preceded by an append of its stream's metadata.
  describe('append with keepLast', () => {
    it('leaves the last events, and soon no others of a stream that grows', async () => {
      const store = given.store();
      const stream = freshStream();
      for (let revision = 0; revision < 20; revision += 1)
        await store.append(stream, [givenEvent(revision)], revision === 0 ? 'no-stream' : revision - 1, {
          keepLast: 2,
        });
      await eventually(async () => expect(await readData(store, stream)).toEqual([18, 19]));
      expect(await readData(store, stream, { direction: 'backwards', limit: 1 })).toEqual([19]);
    });

    it('leaves at most 16 more, under concurrent appends', async () => {
      const store = given.store();
      const stream = freshStream();
      await store.append(stream, givenEvents(30), 'no-stream', { keepLast: 1 });
      await eventually(async () => expect((await readData(store, stream)).length).toBeLessThanOrEqual(17));
      expect(await readData(store, stream, { direction: 'backwards', limit: 1 })).toEqual([29]);
    });

    it('recognizes a repeat, and counts revisions on', async () => {
      const store = given.store();
      const stream = freshStream();
      const [first, second] = [[givenEvent(0)], [givenEvent(1)]];
      await store.append(stream, first, 'no-stream', { keepLast: 1 });
      const answer = await store.append(stream, second, 0, { keepLast: 1 });
      expect(await store.append(stream, second, 0, { keepLast: 1 })).toEqual(answer);
      expect(answer).toMatchObject({ kind: 'appended', revision: 1 });
    });

    it('keeps counting revisions and expected revisions', async () => {
      const store = given.store();
      const stream = await givenKept(store, 9, 1);
      const conflict = { kind: 'conflict', actual: 8 };
      expect(await store.append(stream, givenEvents(1), 'no-stream')).toEqual(conflict);
      expect(await store.append(stream, givenEvents(1), 0)).toEqual(conflict);
      expect(await store.append(stream, givenEvents(1), 8)).toMatchObject({ kind: 'appended', revision: 9 });
      expect((await readAll(store, stream)).map((event) => event.revision)).toEqual([9]);
    });

    it('applies to later appends and other writers, and affects no other stream', async () => {
      const [store, another] = [given.store(), await given.another()];
      const [stream, other] = [await givenKept(store, 9, 1), freshStream()];
      await another.append(stream, givenEvents(3), 'any');
      await another.append(other, givenEvents(3), 'any');
      expect(await readData(store, stream)).toEqual([2]);
      expect(await readData(store, other)).toEqual([0, 1, 2]);
    });

    it('reads the rest, from any revision', async () => {
      const store = given.store();
      const stream = await givenKept(store, 10, 3);
      expect(await readData(store, stream, { from: 2 })).toEqual([7, 8, 9]);
      expect(await readData(store, stream, { from: 8, direction: 'backwards' })).toEqual([8, 7]);
    });

    it('delivers each last event to a subscription, and earlier ones if they still exist', async () => {
      const store = given.store();
      const category = freshCategory();
      await store.append(`${category}-1`, givenEvents(9), 'any', { keepLast: 1 });
      const last = appended(await store.append(`${category}-2`, givenEvents(1), 'any'));
      const found: RecordedEvent[] = [];
      const { signal } = new AbortController();
      for await (const each of store.subscribe({ from: beginning, prefixes: [`${category}-`], signal })) {
        if (each.kind === 'event') found.push(each);
        if (each.position >= last.position) break;
      }
      // A server hides trimmed events from readers of the stream at once, and from those of the log when it cleans up.
      const certain = found.filter(({ stream, revision }) => stream !== `${category}-1` || revision === 8);
      expect(certain.map(({ stream, revision }) => `${stream}@${revision}`)).toEqual([
        `${category}-1@8`,
        `${category}-2@0`,
      ]);
      const positions = found.map(({ position }) => position);
      expect(positions.toSorted()).toEqual(positions);
    });
  });
}
