import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendBytesMax, eventsPerAppendMax } from '../append-arguments.ts';
import { InvalidArgument } from '../errors.ts';
import type { Appended } from '../event-store.ts';
import type { Stores } from './event-store.contract.ts';
import { appended, freshStream, givenEvent, givenEvents, readAll, readData } from './given-events.ts';

/** Events of this total size, as a store counts them. */
function eventsOf(bytes: number, count: number) {
  const { type, metadata } = givenEvent();
  const besides = 2 * type.length + JSON.stringify(metadata).length + '""'.length;
  const each = Math.floor(bytes / count);
  return Array.from({ length: count }, (_, index) =>
    givenEvent('x'.repeat((index === 0 ? bytes - each * (count - 1) : each) - besides)),
  );
}

export function describeAppend(given: Stores): void {
  describe('append', () => {
    it('answers with the revision and the position of the last event', async () => {
      const store = given.store();
      const stream = freshStream();
      const answer = await store.append(stream, givenEvents(3), 'no-stream');
      const last = (await readAll(store, stream)).at(-1);
      expect(answer).toEqual({ kind: 'appended', revision: 2, position: last?.position });
    });

    it('gives later events positions that sort after earlier ones, in any stream', async () => {
      const store = given.store();
      const answers: Appended[] = [];
      for (let count = 0; count < 12; count += 1) {
        answers.push(appended(await store.append(freshStream(), givenEvents(2), 'no-stream')));
      }
      const positions = answers.map((answer) => answer.position);
      expect(positions.toSorted()).toEqual(positions);
      expect(new Set(positions).size).toBe(positions.length);
    });

    it('keeps every JSON value unchanged', async () => {
      const store = given.store();
      const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);
      await fc.assert(
        fc.asyncProperty(json, json, async (data, metadata) => {
          const stream = freshStream();
          const event = { ...givenEvent(data), metadata };
          await store.append(stream, [event], 'no-stream');
          expect(await readAll(store, stream)).toEqual([
            expect.objectContaining({ ...event, stream, revision: 0 }),
          ]);
        }),
        { numRuns: propertyRuns(50) },
      );
    });

    it('records when it took the event', async () => {
      const store = given.store();
      const stream = freshStream();
      await store.append(stream, givenEvents(1), 'no-stream');
      const [event] = await readAll(store, stream);
      // The store may be another machine: its clock is only roughly ours.
      expect(Math.abs((event?.recordedAt ?? 0) - Date.now())).toBeLessThan(60_000);
    });

    it('is seen by another store over the same data as soon as it is answered', async () => {
      const another = await given.another();
      const stream = freshStream();
      await given.store().append(stream, givenEvents(2), 'no-stream');
      expect(await readData(another, stream)).toEqual([0, 1]);
    });
  });

  describe('append with an expected revision', () => {
    it('conflicts if the stream is further, is shorter or does not exist, and writes nothing', async () => {
      const store = given.store();
      const stream = freshStream();
      expect(await store.append(stream, givenEvents(1), 0)).toEqual({
        kind: 'conflict',
        actual: 'no-stream',
      });
      await store.append(stream, givenEvents(3), 'no-stream');
      for (const expected of ['no-stream', 0, 1, 3, 7] as const) {
        expect(await store.append(stream, givenEvents(2), expected)).toEqual({ kind: 'conflict', actual: 2 });
      }
      expect(await readData(store, stream)).toEqual([0, 1, 2]);
    });

    it('lets exactly one of several writers win, and the others read the conflicting events', async () => {
      const stores = [given.store(), await given.another()];
      const stream = freshStream();
      const tries = Array.from({ length: 10 }, async (_, index) => {
        const store = stores[index % 2]!;
        const answer = await store.append(stream, givenEvents(1), 'no-stream');
        expect(await readAll(store, stream)).toHaveLength(1);
        return answer;
      });
      const answers = await Promise.all(tries);
      expect(answers.filter((answer) => answer.kind === 'appended')).toHaveLength(1);
      expect(answers.filter((answer) => answer.kind === 'conflict' && answer.actual === 0)).toHaveLength(9);
      expect(await readAll(stores[0]!, stream)).toHaveLength(1);
    });

    it('accepts an event id of another stream', async () => {
      const store = given.store();
      const events = givenEvents(1);
      await store.append(freshStream(), events, 'no-stream');
      expect(await store.append(freshStream(), events, 'no-stream')).toMatchObject({
        kind: 'appended',
        revision: 0,
      });
    });
  });

  describe('append if the writer expects nothing', () => {
    it('never conflicts', async () => {
      const store = given.store();
      const stream = freshStream();
      const answers = await Promise.all([1, 2, 3].map(() => store.append(stream, givenEvents(2), 'any')));
      expect(answers.map((answer) => appended(answer).revision).toSorted()).toEqual([1, 3, 5]);
      expect(await readAll(store, stream)).toHaveLength(6);
    });
  });

  describe('a repeated append', () => {
    it('has the same answer and writes nothing, even if others have followed', async () => {
      const store = given.store();
      const stream = freshStream();
      const created = givenEvents(2);
      const continued = givenEvents(3);
      const first = await store.append(stream, created, 'no-stream');
      expect(await store.append(stream, created, 'no-stream')).toEqual(first);
      const second = await store.append(stream, continued, 1);
      expect(await store.append(stream, continued, 1)).toEqual(second);
      expect(await store.append(stream, created, 'no-stream')).toEqual(first);
      expect(await readData(store, stream)).toEqual([0, 1, 0, 1, 2]);
    });

    it('is written once when it runs next to the first one', async () => {
      const stores = [given.store(), await given.another()];
      const stream = freshStream();
      const events = givenEvents(2);
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, index) => stores[index % 2]!.append(stream, events, 'no-stream')),
      );
      expect(answers).toEqual(answers.map(() => answers[0]));
      expect(await readData(stores[0]!, stream)).toEqual([0, 1]);
    });

    it('conflicts if only a part of it is the same', async () => {
      const store = given.store();
      const stream = freshStream();
      const [one, two, three] = givenEvents(3) as [never, never, never];
      await store.append(stream, [one, two], 'no-stream');
      for (const other of [
        [two, one],
        [one, two, three],
        [one, three],
      ]) {
        expect(await store.append(stream, other, 'no-stream')).toEqual({ kind: 'conflict', actual: 1 });
      }
      expect(await readData(store, stream)).toEqual([0, 1]);
    });
  });

  describe('the size of an append', () => {
    it('contains up to 1,000 events, which are written together', async () => {
      const store = given.store();
      const stream = freshStream();
      const answer = await store.append(stream, givenEvents(eventsPerAppendMax), 'no-stream');
      expect(answer).toMatchObject({ kind: 'appended', revision: eventsPerAppendMax - 1 });
      expect(await readData(store, stream)).toEqual(
        Array.from({ length: eventsPerAppendMax }, (_, index) => index),
      );
    });

    // A server took 1 MiB and an append had up to 16: a server with default settings could not be used.
    it.each([1, 8])('is as large as a server with default settings accepts, in %s events', async (count) => {
      const store = given.store();
      const largest = eventsOf(appendBytesMax, count);
      const larger = eventsOf(appendBytesMax + 1, count);
      expect(await store.append(freshStream(), largest, 'no-stream')).toMatchObject({
        revision: count - 1,
      });
      const refused = store.append(freshStream(), larger, 'no-stream');
      await expect(refused).rejects.toThrow(InvalidArgument);
      await expect(refused).rejects.toThrow(/1000001 bytes.* at most 1000000/);
    });

    it.each([
      ['no event', []],
      ['1,001 events', givenEvents(eventsPerAppendMax + 1)],
    ])('refuses %s and writes nothing', async (_name, events) => {
      const store = given.store();
      const stream = freshStream();
      await expect(store.append(stream, events, 'no-stream')).rejects.toThrow(InvalidArgument);
      expect(await store.append(stream, givenEvents(1), 'no-stream')).toMatchObject({ revision: 0 });
    });

    it.each(['', 'two words', '$system', 'line\nbreak', 'é', 'x'.repeat(513)])(
      'refuses the stream name %j',
      async (stream) => {
        await expect(given.store().append(stream, givenEvents(1), 'any')).rejects.toThrow(InvalidArgument);
      },
    );
  });
}
