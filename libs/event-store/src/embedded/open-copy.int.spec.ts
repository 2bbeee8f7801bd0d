import { closeSync, openSync, readFileSync, readdirSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { systemIds } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import type { EventStore } from '../event-store.ts';
import { temporaryFile, threadedStore } from '../testing/temporary-store.ts';
import { copyEmbeddedStore } from './copy-database.ts';
import { checkEmbeddedCopy, openEmbeddedCopy } from './open-copy.ts';

const eventOf = (count: number) => ({ id: systemIds.uuid(), type: 'Noted', data: { count }, metadata: {} });
const signal = new AbortController().signal;

async function given(write: (store: EventStore) => Promise<unknown>) {
  const file = await temporaryFile();
  const store = await threadedStore({ file });
  await write(store);
  // A name that means something in a URL.
  const to = join(dirname(file), 'copy #1?.db');
  await copyEmbeddedStore({ file, to, signal });
  return to;
}

const twoStreams = async (store: EventStore) => {
  await store.append('a', [eventOf(1), eventOf(2), eventOf(3)], 'no-stream');
  await store.append('b', [eventOf(4)], 'no-stream');
};

function change(file: string, ...statements: string[]): void {
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  for (const sql of statements) database.exec(sql);
  database.close();
}

describe('the check of a copy', () => {
  it('finds nothing in a good one: a trimmed stream has no gap', async () => {
    const good = await given(async (store) => {
      await twoStreams(store);
      await store.append('a', [eventOf(9)], 'any', { keepLast: 2 });
    });
    expect(checkEmbeddedCopy(good)).toEqual({ streams: 2, events: 3, findings: [] });
  });

  // Topics and webhooks keep some days only: the check reported gaps in each backup that was older than that.
  it('accepts streams whose beginning was truncated', async () => {
    const copy = await given(async (store) => {
      await twoStreams(store);
      await store.truncate('a', 2);
    });
    expect(checkEmbeddedCopy(copy, ['a', 'c'])).toEqual({ streams: 2, events: 2, findings: [] });
    expect(checkEmbeddedCopy(copy, ['b']).findings).toEqual([expect.stringMatching(/^a: it has 1 events/)]);
    change(copy, 'DELETE FROM events WHERE stream_id = 1');
    expect(checkEmbeddedCopy(copy, ['a']).findings).toEqual([expect.stringMatching(/^a: it has 0 events/)]);
  });

  it.each([
    [
      'a gap',
      'DELETE FROM events WHERE revision = 1',
      'a: it has 2 events from revision 0 on, and ends with revision 2.',
    ],
    ['a lost end', 'DELETE FROM events WHERE revision = 2', 'a: it has 2 events from revision 0 on'],
    [
      'a lost beginning',
      'DELETE FROM events WHERE revision = 0 AND stream_id = 1',
      'a: it has 2 events from revision 1 on',
    ],
    [
      'an emptied stream',
      'DELETE FROM events WHERE stream_id = 2',
      'b: it has 0 events from revision none on',
    ],
    ['an event of nobody', 'DELETE FROM streams WHERE id = 2', 'event 4: it is of no stream.'],
    ['what is no JSON', "UPDATE events SET data = '{' WHERE position = 4", 'b: the event 0 is no JSON.'],
    [
      'a wrong order',
      'UPDATE events SET position = 9 WHERE position = 1',
      'a: the event 1 is stored before its predecessor.',
    ],
  ])('names %s', async (_, sql, finding) => {
    const copy = await given(twoStreams);
    change(copy, sql);
    expect(checkEmbeddedCopy(copy).findings).toEqual([expect.stringContaining(finding)]);
  });

  it.each([
    ['a page', 4_096, 4_000],
    ['the end of every page', 4_000, 20_000],
    ['the first page', 0, 4_000],
  ])('names damage of %s by the words of SQLite', async (_, from, bytes) => {
    const copy = await given(twoStreams);
    const file = openSync(copy, 'r+');
    writeSync(file, Buffer.alloc(bytes, 0x55), 0, bytes, from);
    closeSync(file);
    const { findings } = checkEmbeddedCopy(copy);
    expect(findings.length).toBeGreaterThan(0);
    expect(findings[0]).toMatch(/^SQLite: /);
  });

  it('refuses a file that is not an event store, with a message', async () => {
    const copy = await given(twoStreams);
    change(copy, 'PRAGMA user_version = 9');
    expect(() => checkEmbeddedCopy(copy)).toThrow(expect.objectContaining({ code: 'store_version_unknown' }));
    expect(() => checkEmbeddedCopy(`${copy}.other`)).toThrow(
      expect.objectContaining({ code: 'store_not_openable' }),
    );
  });
});

describe('an opened copy', () => {
  it('reads as a store does, and leaves everything as it is', async () => {
    const file = await given(twoStreams);
    const [before, folder] = [readFileSync(file), readdirSync(dirname(file)).toSorted()];
    const copy = openEmbeddedCopy(file);
    const read = await Array.fromAsync(copy.read('a'));
    expect(read.map(({ data }) => data)).toEqual([{ count: 1 }, { count: 2 }, { count: 3 }]);
    const found: unknown[] = [];
    for await (const item of copy.subscribe({ from: '' as never, prefixes: [''], signal })) {
      if (item.kind === 'caught-up') break;
      found.push(item.stream);
    }
    expect(found).toEqual(['a', 'a', 'a', 'b']);
    await copy.close();
    expect(readdirSync(dirname(file)).toSorted()).toEqual(folder);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('is not written', async () => {
    const copy = openEmbeddedCopy(await given(twoStreams));
    const refused = { code: 'store_read_only', retryable: false };
    await expect(copy.append('a', [eventOf(1)], 'any')).rejects.toMatchObject(refused);
    await expect(copy.truncate('a', 1)).rejects.toMatchObject(refused);
    await copy.close();
    await expect(Array.fromAsync(copy.read('a'))).rejects.toMatchObject({ code: 'store_closed' });
  });
});
