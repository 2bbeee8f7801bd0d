import { statSync } from 'node:fs';
import { type EventStore, createMembers } from '@tollgate/event-store';
import { temporaryFile, temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { appendPayment, requested } from '@tollgate/views/testing';
import { expect, it } from 'vitest';
import { runWith, toolsWith } from './testing/run-with.ts';

const appendFiller = (store: EventStore) =>
  store.append(
    'filler-1',
    [{ id: systemIds.uuid(), type: 'Tested', data: 'x'.repeat(5_000), metadata: {} }],
    'any',
  );

async function start(isEmbedded = true) {
  const eventsFile = await temporaryFile();
  const store = await temporaryStore({ file: eventsFile });
  await appendPayment(store, 'p0', [requested()]);
  for (let number = 0; number < 20; number += 1) await appendFiller(store);
  await store.truncate('filler-1', 19);
  const directory = { eventsFile } as never;
  const run = (command: string) =>
    runWith(toolsWith({ store, clock: systemClock, directory, isEmbedded }), command);
  return { run, store, eventsFile };
}

it('shrinks the file, and reports by how much', async () => {
  const { run, store, eventsFile } = await start();
  const { exitCode, out } = await run('compact --json');
  const { bytesBefore, bytesAfter, file } = JSON.parse(out);
  expect([exitCode, file]).toEqual([0, eventsFile]);
  expect(bytesAfter).toBe(statSync(eventsFile).size);
  expect(bytesAfter).toBeLessThan(bytesBefore);
  expect((await run('compact')).out).toBe(`${eventsFile} has 1 MB, and had 1 MB.\n`);
  expect(await Array.fromAsync(store.read('payment-p0'))).toHaveLength(1);
});

it('is refused while a process is running', async () => {
  const { run, store } = await start();
  const self = { member: 'host:1:ab', release: '0.0.9', reads: 1 };
  await createMembers({ store, clock: systemClock, ids: systemIds, log: silentLog, self }).beat();
  expect(await run('compact')).toMatchObject({
    exitCode: 1,
    error: expect.stringMatching(/^Stop these processes first: host:1:ab\. .*\n$/),
  });
});

it('is left to the server on EventStoreDB', async () => {
  const { run } = await start(false);
  expect(await run('compact')).toMatchObject({ exitCode: 1, error: expect.stringContaining('scavenge') });
});
