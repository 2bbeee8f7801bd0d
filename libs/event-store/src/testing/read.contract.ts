import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Stores } from './event-store.contract.ts';
import { freshStream, givenEvent, givenEvents, readAll, readData } from './given-events.ts';

export function describeRead(given: Stores): void {
  describe('read', () => {
    it('returns nothing for a stream that does not exist', async () => {
      expect(await readAll(given.store(), freshStream())).toEqual([]);
      expect(await readAll(given.store(), freshStream(), { direction: 'backwards' })).toEqual([]);
    });

    it('returns the events as appended, with stream, revision and position', async () => {
      const store = given.store();
      const stream = freshStream();
      const events = givenEvents(3);
      const answer = await store.append(stream, events, 'no-stream');
      const found = await readAll(store, stream);
      expect(found).toMatchObject(
        events.map((event, revision) => ({ ...event, kind: 'event', stream, revision })),
      );
      expect(found.at(-1)).toMatchObject({ position: 'position' in answer ? answer.position : '' });
    });

    it('returns a long stream completely and in order, both ways', async () => {
      const store = given.store();
      const stream = freshStream();
      await store.append(stream, givenEvents(1_000), 'no-stream');
      await store.append(stream, givenEvents(700), 999);
      const forwards = (await readAll(store, stream)).map((event) => event.revision);
      const backwards = (await readAll(store, stream, { direction: 'backwards' })).map(
        (event) => event.revision,
      );
      expect(forwards).toEqual(Array.from({ length: 1_700 }, (_, index) => index));
      expect(backwards).toEqual(forwards.toReversed());
    });

    it('returns large events', async () => {
      const store = given.store();
      const stream = freshStream();
      for (let count = 0; count < 8; count += 1)
        await store.append(stream, [givenEvent('x'.repeat(400_000))], 'any');
      const revisions = (await readAll(store, stream, { limit: 7 })).map((event) => event.revision);
      expect(revisions).toEqual([0, 1, 2, 3, 4, 5, 6]);
    });

    it('reads any range, in either direction', async () => {
      const store = given.store();
      const stream = freshStream();
      await store.append(stream, givenEvents(20), 'no-stream');
      const all = Array.from({ length: 20 }, (_, index) => index);
      await fc.assert(
        fc.asyncProperty(fc.nat(25), fc.nat(25), fc.boolean(), async (from, limit, isForwards) => {
          const direction = isForwards ? 'forwards' : 'backwards';
          const range = isForwards
            ? all.filter((each) => each >= from)
            : all.toReversed().filter((each) => each <= from);
          expect(await readData(store, stream, { from, limit, direction })).toEqual(range.slice(0, limit));
        }),
        { numRuns: propertyRuns(40) },
      );
    });

    it('starts backwards at the last event', async () => {
      const store = given.store();
      const stream = freshStream();
      await store.append(stream, givenEvents(5), 'no-stream');
      expect(await readData(store, stream, { direction: 'backwards', limit: 2 })).toEqual([4, 3]);
    });

    it('may be left in the middle', async () => {
      const store = given.store();
      const stream = freshStream();
      await store.append(stream, givenEvents(1_000), 'no-stream');
      for await (const event of store.read(stream)) if (event.revision === 3) break;
      expect(await store.append(stream, givenEvents(1), 999)).toMatchObject({ kind: 'appended' });
      expect(await readAll(store, stream)).toHaveLength(1_001);
    });
  });
}
