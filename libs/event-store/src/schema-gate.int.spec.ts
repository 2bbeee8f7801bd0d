import { systemClock, systemIds } from '@tollgate/service-kit';
import { expect, it } from 'vitest';
import type { EventStore } from './event-store.ts';
import { guardAppends, raiseSchemaVersion, readSchemaVersion, requireReadable } from './schema-gate.ts';
import { temporaryStore } from './testing/temporary-store.ts';

const releaseOf = (reads: number) => ({ release: `0.${reads}.0`, reads });
const depsOf = (store: EventStore) => ({ store, clock: systemClock, ids: systemIds });
const eventOf = (schemaVersion?: number) => ({
  id: systemIds.uuid(),
  type: 'Noted',
  data: {},
  metadata: schemaVersion === undefined ? {} : { schemaVersion },
});

it('an empty store begins at the version of the release that opens it, and one with events is left as it is', async () => {
  const empty = await temporaryStore();
  await requireReadable(depsOf(empty), releaseOf(3));
  await requireReadable(depsOf(empty), releaseOf(4));
  expect(await readSchemaVersion(empty)).toEqual({ version: 3, release: '0.3.0', revision: 0 });
  const used = await temporaryStore();
  await used.append('s', [eventOf(1)], 'no-stream');
  await requireReadable(depsOf(used), releaseOf(3));
  expect(await readSchemaVersion(used)).toEqual({ version: 1, revision: 'no-stream' });
});

it('of two that raise it at once, one does', async () => {
  const store = await temporaryStore();
  await Promise.all([2, 2].map((reads) => raiseSchemaVersion(depsOf(store), releaseOf(reads), 'no-stream')));
  expect(await readSchemaVersion(store)).toEqual({ version: 2, release: '0.2.0', revision: 0 });
});

it('an older release does not start on a newer store', async () => {
  const store = await temporaryStore();
  await requireReadable(depsOf(store), releaseOf(2));
  await expect(requireReadable(depsOf(store), releaseOf(1))).rejects.toMatchObject({
    code: 'store_of_newer_version',
    message:
      'The event store is written in schema version 2, and release 0.1.0 reads up to 1. Use release 0.2.0 or a later one.',
  });
});

it("accepts no event that needs a newer version than the store's, until it is raised", async () => {
  const store = await temporaryStore();
  const guarded = guardAppends(store);
  await expect(guarded.append('s', [eventOf(1), eventOf(2)], 'no-stream')).rejects.toMatchObject({
    code: 'upgrade_not_finished',
    retryable: true,
  });
  expect(await Array.fromAsync(store.read('s'))).toEqual([]);
  for (const event of [eventOf(1), eventOf()])
    expect(await guarded.append(`s-${event.id}`, [event], 'no-stream')).toMatchObject({ kind: 'appended' });
  await raiseSchemaVersion(depsOf(store), releaseOf(2), 'no-stream');
  expect(await guarded.append('s', [eventOf(2)], 'no-stream')).toMatchObject({ kind: 'appended' });
});
