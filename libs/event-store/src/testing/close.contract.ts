import { describe, expect, it } from 'vitest';
import type { Stores } from './event-store.contract.ts';
import { freshCategory, freshStream, givenEvents, readAll } from './given-events.ts';
import { probe } from './subscription-probe.ts';

export function describeClose(given: Stores): void {
  describe('close', () => {
    it('waits for appends under way, and refuses later ones', async () => {
      const store = await given.another();
      const stream = freshStream();
      const underWay = Array.from({ length: 20 }, () => store.append(stream, givenEvents(1), 'any'));
      await store.close();
      expect((await Promise.all(underWay)).every((answer) => answer.kind === 'appended')).toBe(true);
      await expect(store.append(stream, givenEvents(1), 'any')).rejects.toMatchObject({
        code: 'store_closed',
      });
      await expect(readAll(store, stream)).rejects.toMatchObject({ code: 'store_closed' });
      expect(await readAll(given.store(), stream)).toHaveLength(20);
    });

    it('ends subscriptions without an error', async () => {
      const store = await given.another();
      const subscription = probe(store, { prefixes: [`${freshCategory()}-`] });
      await subscription.caughtUp();
      await store.close();
      await expect(subscription.ended).resolves.toBeUndefined();
    });

    it('may be called twice', async () => {
      const store = await given.another();
      await Promise.all([store.close(), store.close()]);
      await expect(store.close()).resolves.toBeUndefined();
    });
  });
}
