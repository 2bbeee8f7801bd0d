import { eventually } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import type { Stores } from './event-store.contract.ts';
import { freshStream, givenEvent, givenEvents, readAll, readData } from './given-events.ts';

export function describeTruncate(given: Stores): void {
  describe('truncate', () => {
    it('releases the events before a revision, now and once only', async () => {
      const store = given.store();
      const stream = freshStream();
      await store.append(stream, givenEvents(6), 'no-stream');
      await store.truncate(stream, 4);
      expect(await readData(store, stream)).toEqual([4, 5]);
      expect(await store.append(stream, [givenEvent(6)], 5)).toMatchObject({ kind: 'appended', revision: 6 });
      expect(await readData(store, stream)).toEqual([4, 5, 6]);
      expect((await readAll(store, stream)).map(({ revision }) => revision)).toEqual([4, 5, 6]);
      expect(await readData(store, stream, { from: 1, limit: 2 })).toEqual([4, 5]);
    });

    it('brings nothing back with an earlier revision', async () => {
      const store = given.store();
      const stream = freshStream();
      await store.append(stream, givenEvents(6), 'no-stream');
      await store.truncate(stream, 4);
      await store.truncate(stream, 2);
      expect(await readData(store, stream)).toEqual([4, 5]);
    });

    it('never deletes the last event: the stream continues from there', async () => {
      const store = given.store();
      const stream = freshStream();
      await store.append(stream, givenEvents(3), 'no-stream');
      await store.truncate(stream, 100);
      expect(await readData(store, stream)).toEqual([2]);
      expect(await store.append(stream, givenEvents(1), 'no-stream')).toEqual({
        kind: 'conflict',
        actual: 2,
      });
      expect(await store.append(stream, [givenEvent(3)], 2)).toMatchObject({ kind: 'appended', revision: 3 });
    });

    it('makes no stream of one that is not there', async () => {
      const store = given.store();
      const stream = freshStream();
      await store.truncate(stream, 3);
      expect(await store.append(stream, givenEvents(1), 'no-stream')).toMatchObject({
        kind: 'appended',
        revision: 0,
      });
    });

    it('touches no other stream, and leaves how many are kept', async () => {
      const store = given.store();
      const [stream, other] = [freshStream(), freshStream()];
      await store.append(stream, givenEvents(10), 'no-stream', { keepLast: 3 });
      await eventually(async () => expect(await readData(store, stream)).toEqual([7, 8, 9]));
      await store.append(other, givenEvents(4), 'no-stream');
      await store.truncate(stream, 9);
      await store.append(stream, [givenEvent(10), givenEvent(11)], 9);
      expect(await readData(store, stream)).toEqual([9, 10, 11]);
      expect(await readData(store, other)).toEqual([0, 1, 2, 3]);
    });
  });
}
