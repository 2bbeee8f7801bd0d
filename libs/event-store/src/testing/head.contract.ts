import { describe, expect, it } from 'vitest';
import type { Stores } from './event-store.contract.ts';
import { freshStream, givenEvents } from './given-events.ts';

export function describeHead(given: Stores): void {
  describe('head', () => {
    it('is at or after the last append of any client, and never moves back', async () => {
      const store = given.store();
      const other = await given.another();
      const before = await store.head();
      const answer = await other.append(freshStream(), givenEvents(3), 'no-stream');
      if (answer.kind !== 'appended') throw new Error('a fresh stream was there');
      const after = await store.head();
      expect(after > before).toBe(true);
      expect(after >= answer.position).toBe(true);
    });

    it('is refused if the store is closed', async () => {
      const store = await given.another();
      await store.close();
      await expect(store.head()).rejects.toMatchObject({ code: 'store_closed' });
    });
  });
}
