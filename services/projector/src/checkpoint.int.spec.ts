import { beginning, type EventStore, type Position } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { checkpointStream, viewSchemaVersions } from '@tollgate/views';
import { silentLog, systemIds, type Log } from '@tollgate/service-kit';
import { expect, test, vi } from 'vitest';
import { createCheckpoint } from './checkpoint.ts';

const at = (number: number) => number.toString().padStart(16, '0') as Position;
const failed = { stream: 'payment-p1', revision: 3, code: 'event_undecodable' };

async function openCheckpoint(store: EventStore, log: Log = silentLog) {
  const checkpoint = createCheckpoint({
    store,
    ids: systemIds,
    log,
    stream: checkpointStream,
    viewSchemaVersions,
  });
  return { checkpoint, last: await checkpoint.read() };
}

test('it begins at the beginning, and is read as it was written', async () => {
  const store = await temporaryStore();
  const { checkpoint, last } = await openCheckpoint(store);
  expect(last).toEqual({ schemaVersion: 1, viewSchemaVersions, position: beginning, failedStreams: [] });
  const end = await checkpoint.write(at(7), [failed]);
  expect((await openCheckpoint(store)).last).toEqual({
    schemaVersion: 1,
    viewSchemaVersions,
    position: at(7),
    failedStreams: [failed],
  });
  const [event] = await Array.fromAsync(store.read(checkpointStream));
  expect(end).toBe(event?.position);
});

test('one that has been overtaken does not go back', async () => {
  const store = await temporaryStore();
  const { checkpoint: slow } = await openCheckpoint(store);
  const { checkpoint: fast } = await openCheckpoint(store);
  const end = await fast.write(at(9), []);
  expect(await slow.write(at(5), [])).toBe(end);
  expect((await openCheckpoint(store)).last.position).toBe(at(9));
  await slow.write(at(11), []);
  expect((await openCheckpoint(store)).last.position).toBe(at(11));
});

test('one of another version is as none, loudly', async () => {
  const store = await temporaryStore();
  const event = {
    id: systemIds.uuid(),
    type: 'ViewCheckpointWritten',
    data: { schemaVersion: 9 },
    metadata: {},
  };
  await store.append(checkpointStream, [event], 'no-stream');
  const error = vi.fn<Log['error']>();
  const { checkpoint, last } = await openCheckpoint(store, { ...silentLog, error });
  expect(last.position).toBe(beginning);
  expect(error).toHaveBeenCalledOnce();
  await checkpoint.write(at(3), []);
  expect((await openCheckpoint(store)).last.position).toBe(at(3));
});
