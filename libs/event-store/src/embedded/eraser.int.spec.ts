import { readFileSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { givenEvent, readData } from '../testing/given-events.ts';
import { createEraser } from './eraser.ts';
import { temporaryFile, threadedStore } from '../testing/temporary-store.ts';

/** Occurrences of a text in the store's files. */
const isOnDisk = (file: string, text: string): boolean =>
  [file, `${file}-wal`].some(
    (each) => statSync(each, { throwIfNoEntry: false }) !== undefined && readFileSync(each).includes(text),
  );

const secretOf = (number: number) => `planted-${number}-${'x'.repeat(number % 7 === 0 ? 9_000 : 200)}`;

it.each([true, false])(
  'the files contain no part of an erased stream after any other writes (other process: %s)',
  async (isOther) => {
    const file = await temporaryFile();
    const store = await threadedStore({ file });
    const eraser = isOther ? await threadedStore({ file }) : store;
    // With trimmed views among them, so that SQLite moves rows from page to page.
    for (let number = 0; number < 60; number += 1) {
      await store.append(`customer-${number}`, [givenEvent(secretOf(number))], 'no-stream');
      await store.append('view-1', [givenEvent('v'.repeat(700))], 'any', { keepLast: 1 });
    }
    expect(isOnDisk(file, 'planted-33-')).toBe(true);
    for (let number = 0; number < 60; number += 1)
      if (number !== 1) await eraser.remove(`customer-${number}`, { erase: true });
    for (let number = 0; number < 60; number += 1)
      expect([number, isOnDisk(file, `planted-${number}-`)]).toEqual([number, number === 1]);
    expect(await readData(store, 'customer-1')).toEqual([secretOf(1)]);
  },
);

it('an erased stream is removed with the next commit, even if a reader held the log', async () => {
  const file = await temporaryFile();
  const [store, other] = [await threadedStore({ file }), await threadedStore({ file })];
  await store.append('customer-1', [givenEvent('planted')], 'no-stream');
  // Both write and read while it is erased.
  const busy = Promise.all(
    Array.from({ length: 50 }, (_, number) => other.append(`payment-${number}`, [givenEvent()], 'no-stream')),
  );
  await store.remove('customer-1', { erase: true });
  await busy;
  await store.append('payment-last', [givenEvent()], 'no-stream');
  expect(isOnDisk(file, 'planted')).toBe(false);
});

// During a backup, each commit after an erasure waited 250 ms for it: 300 ms instead of 3 for each payment.
it('waits once for a long reader, and erases when it has finished', async () => {
  const file = await temporaryFile();
  const store = await threadedStore({ file });
  await store.append('customer-1', [givenEvent('planted')], 'no-stream');
  const reader = new DatabaseSync(file, { readOnly: true });
  reader.exec('BEGIN; SELECT count(*) FROM events');
  const database = new DatabaseSync(file);
  const waits: unknown[] = [];
  const exec = database.exec.bind(database);
  database.exec = (sql) => {
    waits.push(/busy_timeout = (\d+)$/.exec(sql)?.[1]);
    exec(sql);
  };
  let now = 0;
  const eraser = createEraser(database, () => now);
  eraser.prepare();
  exec('DELETE FROM events');
  for (now of [0, 1_000, 4_999, 5_000, 5_001]) eraser.finish();
  expect(waits.filter((wait) => wait !== undefined && wait !== '5000')).toEqual([
    '250',
    '0',
    '0',
    '250',
    '0',
  ]);
  expect(isOnDisk(file, 'planted')).toBe(true);
  reader.close();
  eraser.finish();
  expect(isOnDisk(file, 'planted')).toBe(false);
  database.close();
});
