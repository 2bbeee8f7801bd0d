// 300 payments with deleted topics and webhooks took 5.2 KB each in the file, and 4.0 KB in a copy of it: SQLite leaves pages
// half empty
// after deletions.
import { DatabaseSync } from 'node:sqlite';
import { statSync } from 'node:fs';
import { systemIds } from '@tollgate/service-kit';
import { expect, it } from 'vitest';
import { temporaryFile, threadedStore } from '../testing/index.ts';
import { compactEmbeddedStore } from './compact-database.ts';

const eventOf = (data: object) => ({ id: systemIds.uuid(), type: 'Happened', data, metadata: {} });
const text = 'x'.repeat(900);

/** A store with every other event deleted. */
async function halfEmptied() {
  const file = await temporaryFile();
  const store = await threadedStore({ file });
  for (let number = 0; number < 200; number += 1) {
    await store.append('kept-1', [eventOf({ number, text })], 'any');
    await store.append('gone-1', [eventOf({ number, text })], 'any');
  }
  await store.truncate('gone-1', 199);
  const events = async () => [
    ...(await Array.fromAsync(store.read('kept-1'))),
    ...(await Array.fromAsync(store.read('gone-1'))),
  ];
  return { file, store, events };
}

it('returns free space to the disk, and events keep their positions', async () => {
  const { file, store, events } = await halfEmptied();
  const before = await events();
  const { bytesBefore, bytesAfter } = compactEmbeddedStore(file);
  expect(bytesAfter).toBeLessThan(0.7 * bytesBefore);
  expect(statSync(file).size).toBe(bytesAfter);
  expect(await events()).toEqual(before);
  const appended = await store.append('kept-1', [eventOf({})], 199);
  expect(appended).toMatchObject({ kind: 'appended', revision: 200, position: '0000000000000401' });
});

it('changes nothing while another program works on the store', async () => {
  const { file, events } = await halfEmptied();
  const before = await events();
  const other = new DatabaseSync(file);
  other.exec('BEGIN IMMEDIATE');
  expect(() => compactEmbeddedStore(file)).toThrow(
    expect.objectContaining({ code: expect.stringMatching(/^(compact_store_busy|store_locked)$/) }),
  );
  other.close();
  expect(await events()).toEqual(before);
});

it('refuses a file that is not our store', async () => {
  const file = await temporaryFile();
  const other = new DatabaseSync(file);
  other.exec('CREATE TABLE cooking (recipe TEXT)');
  other.close();
  expect(() => compactEmbeddedStore(file)).toThrow(expect.objectContaining({ code: 'store_foreign_file' }));
});
