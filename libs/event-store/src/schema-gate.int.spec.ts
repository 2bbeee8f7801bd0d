import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { expect, it } from 'vitest';
import type { EventStore } from './event-store.ts';
import type { Member } from './members.ts';
import { createSchemaGate, guardAppends, readSchemaVersion, requireReadable } from './schema-gate.ts';
import { temporaryStore } from './testing/temporary-store.ts';

const processOf = (member: string, reads: number): Member => ({ member, release: `0.${reads}.0`, reads });

async function openGate(store: EventStore, self: Member, heldAt?: number) {
  const version = await requireReadable(store, self);
  const gate = createSchemaGate({
    ...{ store, clock: systemClock, ids: systemIds, log: silentLog, self, version, heldAt },
  });
  return gate;
}

const eventOf = (schemaVersion?: number) => ({
  ...{ id: systemIds.uuid(), type: 'Noted', data: {} },
  metadata: schemaVersion === undefined ? {} : { schemaVersion },
});

it('raises the store to what every living process reads, and no further', async () => {
  const store = await temporaryStore();
  const [old, young] = [processOf('old', 2), processOf('young', 3)];
  const gate = await openGate(store, young);
  expect(gate.writable()).toBe(1);
  await gate.check([young, old]);
  expect(gate.writable()).toBe(2);
  await gate.check([young]);
  expect(gate.writable()).toBe(3);
  expect(await readSchemaVersion(store)).toEqual({ version: 3, release: '0.3.0', revision: 1 });
});

it('writes nothing of its own where there is nothing to raise', async () => {
  const store = await temporaryStore();
  const only = processOf('only', 1);
  await (await openGate(store, only)).check([only]);
  expect(await readSchemaVersion(store)).toEqual({ version: 1, revision: 'no-stream' });
});

it('is held where the operator holds it', async () => {
  const store = await temporaryStore();
  const self = processOf('a', 3);
  const gate = await openGate(store, self, 2);
  await gate.check([self]);
  expect(gate.writable()).toBe(2);
});

it('of two that raise it at once, one does', async () => {
  const store = await temporaryStore();
  const all = [processOf('a', 3), processOf('b', 3)];
  const gates = await Promise.all(all.map((self) => openGate(store, self)));
  await Promise.all(gates.map((gate) => gate.check(all)));
  await Promise.all(gates.map((gate) => gate.check(all)));
  expect(gates.map((gate) => gate.writable())).toEqual([3, 3]);
  expect(await readSchemaVersion(store)).toMatchObject({ version: 3, revision: 0 });
});

it('an older release does not start on it, and one that runs says that it is superseded', async () => {
  const store = await temporaryStore();
  const [old, young] = [processOf('old', 1), processOf('young', 2)];
  const olds = await openGate(store, old);
  // As where the young one did not see the beat of the old one.
  await (await openGate(store, young)).check([young]);
  expect(olds.isSuperseded()).toBe(false);
  await olds.check([old, young]);
  expect(olds.isSuperseded()).toBe(true);
  expect(await readSchemaVersion(store)).toMatchObject({ version: 2 });
  await expect(requireReadable(store, old)).rejects.toMatchObject({
    code: 'store_of_newer_version',
    message:
      'The event store is written in schema version 2, and release 0.1.0 reads up to 1. Use release 0.2.0 or a later one.',
  });
});

it('takes no event that needs a newer version than may be written', async () => {
  const store = await temporaryStore();
  let writable = 1;
  const guarded = guardAppends(store, () => writable);
  await expect(guarded.append('s', [eventOf(1), eventOf(2)], 'no-stream')).rejects.toMatchObject({
    ...{ code: 'upgrade_not_finished', retryable: true },
  });
  expect(await Array.fromAsync(store.read('s'))).toEqual([]);
  for (const event of [eventOf(1), eventOf()])
    expect(await guarded.append(`s-${event.id}`, [event], 'no-stream')).toMatchObject({ kind: 'appended' });
  writable = 2;
  expect(await guarded.append('s', [eventOf(2)], 'no-stream')).toMatchObject({ kind: 'appended' });
});
