import { createFakeClock, createFakeIds } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { nameOfInstallation } from './installation.ts';
import { temporaryStore } from './testing/temporary-store.ts';

it('a store gets a name at its first start and keeps it if several processes start at once', async () => {
  const store = await temporaryStore();
  const nameIn = (seed: number) =>
    nameOfInstallation({ store, clock: createFakeClock(), ids: createFakeIds(seed) });
  const names = await Promise.all([1, 2, 3].map(nameIn));
  expect(new Set(names).size).toBe(1);
  expect(await nameIn(4)).toBe(names[0]);
});

// A permanent error at a start while the store had no leader with a quorum.
it('a name that the store has accepted but does not show yet is read again', async () => {
  const store = await temporaryStore();
  const hiding = { ...store, append: async () => ({ kind: 'conflict', actual: 0 }) as const };
  const naming = nameOfInstallation({ store: hiding, clock: createFakeClock(), ids: createFakeIds(1) });
  await expect(naming).rejects.toMatchObject({ code: 'store_unconfirmed', retryable: true });
});
