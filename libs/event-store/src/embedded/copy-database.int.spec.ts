import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { systemIds } from '@tollgate/service-kit';
import { expect, it } from 'vitest';
import { temporaryFile, threadedStore } from '../testing/temporary-store.ts';
import { copyEmbeddedStore, embeddedStoreBytes } from './copy-database.ts';

const never = new AbortController().signal;
const eventOf = (text: string) => ({ id: systemIds.uuid(), type: 'Noted', data: { text }, metadata: {} });

async function start(streams = 1) {
  const file = await temporaryFile();
  const store = await threadedStore({ file });
  for (let each = 0; each < streams; each += 1)
    await store.append(`note-${each}`, [eventOf('x'.repeat(50_000))], 'no-stream');
  return { file, store, to: join(file, '..', 'copy.db') };
}

function contentsOf(file: string) {
  const copy = new DatabaseSync(file, { readOnly: true });
  const events = copy.prepare('SELECT count(*) AS count, max(position) AS last FROM events').get();
  const check = copy.prepare('PRAGMA integrity_check').get();
  copy.close();
  return { ...events, check: check?.['integrity_check'] };
}

// SQLite restarts a copy whenever another connection commits between two steps: a busy store was never copied to its end.
it('copies the state of its beginning to the end, despite commits between all of its steps', async () => {
  const { file, store, to } = await start(200);
  const writing: Promise<unknown>[] = [];
  let steps = 0;
  const copy = await copyEmbeddedStore({
    file,
    to,
    signal: never,
    onProgress: () => {
      steps += 1;
      writing.push(store.append('busy', [eventOf('later')], 'any'));
    },
  });
  expect((await Promise.all(writing)).length).toBe(steps);
  expect(steps).toBeGreaterThan(0);
  expect(copy.events).toBe(200);
  expect(Number(copy.position)).toBe(200);
  expect(contentsOf(to)).toMatchObject({ count: 200, last: 200, check: 'ok' });
});

it('is one file, of the size that was predicted', async () => {
  const { file, store, to } = await start(3);
  await store.close();
  const bytes = embeddedStoreBytes(file);
  await copyEmbeddedStore({ file, to, signal: never });
  expect(statSync(to).size).toBe(bytes);
  expect(statSync(`${to}-wal`, { throwIfNoEntry: false })).toBeUndefined();
});

it('copies a store without an event', async () => {
  const { file, to } = await start(0);
  expect(await copyEmbeddedStore({ file, to, signal: never })).toEqual({ events: 0, position: '' });
});

it('stops when its signal is aborted, and rejects with the reason', async () => {
  const { file, to } = await start(200);
  const stopping = new AbortController();
  const copying = copyEmbeddedStore({
    file,
    to,
    signal: stopping.signal,
    onProgress: () => stopping.abort(new Error('enough')),
  });
  await expect(copying).rejects.toThrow('enough');
});

it('reports that the copy cannot be written', async () => {
  const { file } = await start();
  const to = join(file, '..', 'missing', 'copy.db');
  await expect(copyEmbeddedStore({ file, to, signal: never })).rejects.toMatchObject({
    code: 'copy_failed',
    message: expect.stringContaining(to),
  });
});
