import { describe, expect, it } from 'vitest';
import { InvalidArgument } from '../errors.ts';
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
import { probe } from './subscription-probe.ts';

const streamRemoved = { code: 'stream_removed', retryable: false };

export function describeRemove(given: Stores): void {
  describe('remove', () => {
    it('deletes all events of a stream, for other stores as well, and affects no other stream', async () => {
      const [store, another] = [given.store(), await given.another()];
      const [stream, other] = [freshStream(), freshStream()];
      await store.append(stream, givenEvents(3), 'no-stream');
      await store.append(other, givenEvents(3), 'no-stream');
      await store.remove(stream);
      for (const each of [store, another]) {
        expect(await readAll(each, stream)).toEqual([]);
        expect(await readAll(each, stream, { from: 1, direction: 'backwards' })).toEqual([]);
        expect(await readData(each, other)).toEqual([0, 1, 2]);
      }
    });

    it.each(['no-stream', 'any', 1, 2] as const)(
      'rejects appends that expect %s, with and without keepLast',
      async (expected) => {
        const [store, another] = [given.store(), await given.another()];
        const stream = freshStream();
        const events = givenEvents(2);
        await store.append(stream, events, 'no-stream');
        await store.remove(stream);
        await expect(another.append(stream, givenEvents(1), expected)).rejects.toMatchObject(streamRemoved);
        // Even an append that was answered before.
        await expect(another.append(stream, events, 'no-stream')).rejects.toMatchObject(streamRemoved);
        const keeping = another.append(stream, givenEvents(1), expected, { keepLast: 1 });
        await expect(keeping).rejects.toMatchObject(streamRemoved);
        expect(await readAll(store, stream)).toEqual([]);
      },
    );

    it('may be repeated, and applied to a stream that does not exist or has keepLast', async () => {
      const store = given.store();
      const [kept, missing] = [freshStream(), freshStream()];
      await store.append(kept, givenEvents(9), 'no-stream', { keepLast: 1 });
      for (const stream of [kept, missing, kept, missing]) await store.remove(stream);
      for (const stream of [kept, missing]) {
        expect(await readAll(store, stream)).toEqual([]);
        await expect(store.append(stream, [givenEvent()], 'any')).rejects.toMatchObject(streamRemoved);
      }
    });

    it('delivers to a subscription only events of other streams, and reaches the end', async () => {
      const store = given.store();
      const category = freshCategory();
      const subscription = probe(store, { prefixes: [`${category}-`] });
      await store.append(`${category}-1`, givenEvents(2), 'no-stream');
      await store.remove(`${category}-1`);
      const last = appended(await store.append(`${category}-2`, givenEvents(1), 'no-stream'));
      const late = probe(store, { prefixes: [`${category}-`] });
      for (const each of [subscription, late]) {
        await each.caughtUp(last.position);
        await each.stop();
        expect(each.events().at(-1)).toMatchObject({ stream: `${category}-2`, data: 0 });
        expect(each.events().every(({ type }) => type === 'Tested')).toBe(true);
      }
    });

    it('refuses a name that no stream has', async () => {
      await expect(given.store().remove('two words')).rejects.toThrow(InvalidArgument);
    });
  });
}
