import { chmod, mkdir, open, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartupError } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { givenEvents, readData } from '../testing/given-events.ts';
import { temporaryFile, threadedStore } from '../testing/temporary-store.ts';
import { createEmbeddedEventStore } from './embedded-event-store.ts';
import { fromOpeningError, openForWriting } from './open-database.ts';

async function refusalOf(file: string): Promise<StartupError> {
  const outcome = await createEmbeddedEventStore({ file }).then(
    (store) => store.close(),
    (error: unknown) => error,
  );
  if (!(outcome instanceof StartupError))
    throw new Error('the store did not refuse to start', { cause: outcome });
  return outcome;
}

/** A store with some pages of events, closed. */
async function givenClosedStore(): Promise<string> {
  const file = await temporaryFile();
  const store = await createEmbeddedEventStore({ file });
  await store.append('payment-1', givenEvents(1_000), 'no-stream');
  await store.close();
  return file;
}

async function overwrite(file: string, at: number, bytes: number): Promise<void> {
  const handle = await open(file, 'r+');
  await handle.write(Buffer.alloc(bytes, 0xee), 0, bytes, at);
  await handle.close();
}

function givenDatabase(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

/** Permissions do not apply to root, and tests may run as root in a container. */
function asOrdinaryUser<Result>(work: () => Result): Result {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(65_534);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
  }
}

describe('opening the embedded event store', () => {
  it('finds earlier events after a close', async () => {
    const file = await givenClosedStore();
    const store = await threadedStore({ file });
    expect(await readData(store, 'payment-1')).toHaveLength(1_000);
    expect(await store.append('payment-1', givenEvents(1), 999)).toMatchObject({
      kind: 'appended',
      revision: 1_000,
    });
  });

  it('leaves one file when it is closed', async () => {
    const file = await givenClosedStore();
    await truncate(`${file}-wal`).then(
      () => expect.unreachable('the write-ahead log is still there'),
      (error: unknown) => expect(error).toMatchObject({ code: 'ENOENT' }),
    );
  });

  it('works for several stores that create one file at the same time', async () => {
    const file = await temporaryFile();
    const stores = await Promise.all([1, 2, 3, 4].map(() => threadedStore({ file })));
    await Promise.all(stores.map((store) => store.append('payment-1', givenEvents(1), 'any')));
    expect(await readData(stores[0]!, 'payment-1')).toHaveLength(4);
  });
});

describe('a file that cannot be used ends the start with a message that names it', () => {
  it.each<[string, string, (file: string) => Promise<unknown>]>([
    ['a directory in the place of the file', 'store_not_openable', (file) => mkdir(file)],
    ['text', 'store_damaged', (file) => writeFile(file, 'This is not a database. '.repeat(200))],
  ])('for %s', async (_, code, make) => {
    const file = await temporaryFile();
    await make(file);
    expect(await refusalOf(file)).toMatchObject({ code, message: expect.stringContaining(file) });
  });

  it('for a directory that does not exist', async () => {
    const file = join(dirname(await temporaryFile()), 'missing', 'events.db');
    expect(await refusalOf(file)).toMatchObject({
      code: 'store_directory_missing',
      message: expect.stringContaining(dirname(file)),
    });
  });

  it.each<[string, (file: string) => Promise<unknown>]>([
    ['was cut off after a page', (file) => truncate(file, 4_096)],
    ['was cut off within a page', (file) => truncate(file, 20_000)],
    ['was cut off within its header', (file) => truncate(file, 100)],
    ['has a damaged page in the middle', (file) => overwrite(file, 5 * 4_096, 3_000)],
  ])('for a file that %s', async (_, damage) => {
    const file = await givenClosedStore();
    await damage(file);
    expect(await refusalOf(file)).toMatchObject({ code: 'store_damaged' });
  });

  it('for a database of another program, which stays unchanged', async () => {
    const file = await temporaryFile();
    givenDatabase(file, 'CREATE TABLE theirs (id INTEGER)');
    expect(await refusalOf(file)).toMatchObject({
      code: 'store_foreign_file',
      message: expect.stringContaining(file),
    });
    const database = new DatabaseSync(file, { readOnly: true });
    expect(database.prepare('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'delete' });
    database.close();
  });

  it('for a format that a later version of this program wrote', async () => {
    const file = await givenClosedStore();
    givenDatabase(file, 'PRAGMA user_version = 7');
    const refusal = await refusalOf(file);
    expect(refusal).toMatchObject({
      code: 'store_version_unknown',
      message: expect.stringContaining('format 7'),
    });
  });

  it('for a file that may only be read', async () => {
    const file = await givenClosedStore();
    await chmod(file, 0o444);
    await chmod(dirname(file), 0o777);
    expect(() => asOrdinaryUser(() => openForWriting(file))).toThrow(
      expect.objectContaining({ code: 'store_read_only' }),
    );
  });

  it.each([
    [8, 'store_read_only'],
    [5, 'store_locked'],
    [13, 'store_disk_full'],
    [14, 'store_not_openable'],
    [26, 'store_damaged'],
    [11 | (3 << 8), 'store_damaged'],
    [10 | (2 << 8), 'store_not_openable'],
  ])("for SQLite's code %i: %s", (errcode, code) => {
    const refusal = fromOpeningError(Object.assign(new Error('sqlite'), { errcode }), '/data/events.db');
    expect(refusal).toMatchObject({
      code,
      message: expect.stringMatching(/^[A-Z].*\/data\/events\.db.*\.$/),
    });
  });
});
