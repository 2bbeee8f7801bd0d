import { eventually } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { InvalidArgument } from '../errors.ts';
import { beginning, type RecordedEvent } from '../event-store.ts';
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

export function describeKeepLast(given: Stores): void {
  describe('keepLast', () => {
    it('leaves the last events of a stream, now and after later appends', async () => {
      const store = given.store();
      const stream = freshStream();
      await store.append(stream, givenEvents(5), 'no-stream');
      await store.keepLast(stream, 2);
      expect(await readData(store, stream)).toEqual([3, 4]);
      await store.append(stream, [givenEvent(5)], 4);
      expect(await readData(store, stream)).toEqual([4, 5]);
      await store.append(stream, [givenEvent(6), givenEvent(7), givenEvent(8)], 5);
      expect(await readData(store, stream)).toEqual([7, 8]);
    });

    it('keeps counting revisions and expected revisions', async () => {
      const store = given.store();
      const stream = freshStream();
      await store.append(stream, givenEvents(4), 'no-stream');
      await store.keepLast(stream, 1);
      expect(await store.append(stream, givenEvents(1), 'no-stream')).toEqual({
        kind: 'conflict',
        actual: 3,
      });
      expect(await store.append(stream, givenEvents(1), 0)).toEqual({ kind: 'conflict', actual: 3 });
      expect(await store.append(stream, givenEvents(1), 3)).toMatchObject({ kind: 'appended', revision: 4 });
      expect((await readAll(store, stream)).map((event) => event.revision)).toEqual([4]);
    });

    it('applies to a stream that does not exist yet', async () => {
      const store = given.store();
      const stream = freshStream();
      await store.keepLast(stream, 1);
      expect(await readAll(store, stream)).toEqual([]);
      expect(await store.append(stream, givenEvents(1), 0)).toEqual({
        kind: 'conflict',
        actual: 'no-stream',
      });
      expect(await store.append(stream, givenEvents(3), 'no-stream')).toMatchObject({ revision: 2 });
      expect(await readData(store, stream)).toEqual([2]);
    });

    it('applies to other writers, and affects no other stream', async () => {
      const [store, another] = [given.store(), await given.another()];
      const [stream, other] = [freshStream(), freshStream()];
      await store.keepLast(stream, 1);
      await another.append(stream, givenEvents(3), 'any');
      await another.append(other, givenEvents(3), 'any');
      expect(await readData(store, stream)).toEqual([2]);
      expect(await readData(store, other)).toEqual([0, 1, 2]);
    });

    it('reads the rest, from any revision', async () => {
      const store = given.store();
      const stream = freshStream();
      await store.append(stream, givenEvents(10), 'no-stream');
      await store.keepLast(stream, 3);
      expect(await readData(store, stream, { from: 2 })).toEqual([7, 8, 9]);
      expect(await readData(store, stream, { from: 8, direction: 'backwards' })).toEqual([8, 7]);
    });

    it('may be changed', async () => {
      const store = given.store();
      const stream = freshStream();
      await store.keepLast(stream, 1);
      await store.keepLast(stream, 3);
      await store.append(stream, givenEvents(5), 'any');
      expect(await readData(store, stream)).toEqual([2, 3, 4]);
    });

    it('leaves a repeated append recognisable while its events are there', async () => {
      const store = given.store();
      const stream = freshStream();
      await store.keepLast(stream, 1);
      await store.append(stream, givenEvents(1), 'no-stream');
      const events = givenEvents(1);
      const first = await store.append(stream, events, 0);
      expect(await store.append(stream, events, 0)).toEqual(first);
    });

    it('delivers each last event to a subscription, and earlier ones if they still exist', async () => {
      const store = given.store();
      const category = freshCategory();
      await store.keepLast(`${category}-1`, 1);
      await store.append(`${category}-1`, givenEvents(3), 'any');
      const last = appended(await store.append(`${category}-2`, givenEvents(1), 'any'));
      const found: RecordedEvent[] = [];
      const { signal } = new AbortController();
      for await (const each of store.subscribe({ from: beginning, prefixes: [`${category}-`], signal })) {
        if (each.kind === 'event') found.push(each);
        if (each.position >= last.position) break;
      }
      const names = found.map(({ stream, revision }) => `${stream}@${revision}`);
      // A server hides trimmed events from readers of the stream at once, and from those of the log when it cleans up.
      const mayBeThere = [0, 1].map((revision) => `${category}-1@${revision}`);
      expect(names.filter((name) => !mayBeThere.includes(name))).toEqual([
        `${category}-1@2`,
        `${category}-2@0`,
      ]);
      expect(names.toSorted()).toEqual(names);
    });

    it.each([0, -1, 1.5])('refuses to keep %s events', async (count) => {
      await expect(given.store().keepLast(freshStream(), count)).rejects.toThrow(InvalidArgument);
    });
  });

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

    it('recognises a repeat, and counts revisions on', async () => {
      const store = given.store();
      const stream = freshStream();
      const [first, second] = [[givenEvent(0)], [givenEvent(1)]];
      await store.append(stream, first, 'no-stream', { keepLast: 1 });
      const answer = await store.append(stream, second, 0, { keepLast: 1 });
      expect(await store.append(stream, second, 0, { keepLast: 1 })).toEqual(answer);
      expect(answer).toMatchObject({ kind: 'appended', revision: 1 });
    });

    it.each([0, -1, 1.5])('refuses to keep %s events', async (keepLast) => {
      const append = given.store().append(freshStream(), givenEvents(1), 'no-stream', { keepLast });
      await expect(append).rejects.toThrow(InvalidArgument);
    });
  });
}
