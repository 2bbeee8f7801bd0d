import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartupError } from '@tollgate/service-kit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from './database.ts';

let dir: string;
let database: Database;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'database-'));
  database = openDatabase(join(dir, 'test.db'));
});
afterEach(async () => {
  if (database.connection.isOpen) database.close();
  await rm(dir, { recursive: true, force: true });
});

const put = (name: string) => () => {
  database.connection.prepare("INSERT INTO settings (name, value) VALUES (?, '')").run(name);
  return name;
};
const names = () =>
  database.connection
    .prepare('SELECT name FROM settings ORDER BY name')
    .all()
    .map((row) => row['name']);

describe('the database', () => {
  it('has a write-ahead log and one serving process', () => {
    expect(database.connection.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    expect(() => openDatabase(join(dir, 'test.db'))).toThrow(/has .*test\.db open/);
  });

  // Accounts and hashes of keys must not be readable by other users of the machine.
  it('and its companion files are private to the owner, and are made so if they were not', async () => {
    const modes = async () =>
      new Set(
        await Promise.all(
          (await readdir(dir)).map(async (name) => (await stat(join(dir, name))).mode & 0o777),
        ),
      );
    expect(await modes()).toEqual(new Set([0o600]));
    database.close();
    await chmod(join(dir, 'test.db'), 0o644);
    database = openDatabase(join(dir, 'test.db'));
    expect(await modes()).toEqual(new Set([0o600]));
  });

  it('rolls back a transaction that throws', () => {
    const broken = () => {
      put('half')();
      throw new Error('broken');
    };
    expect(database.write(put('a'))).toBe('a');
    expect(() => database.write(broken)).toThrow('broken');
    database.write(put('b'));
    expect(names()).toEqual(['a', 'b']);
  });

  it('refuses a transaction when the disk is full, and recovers when there is space', () => {
    database.write(put('a'));
    const pages = Number(database.connection.prepare('PRAGMA page_count').get()?.['page_count']);
    database.connection.exec(`PRAGMA max_page_count = ${pages}`);
    expect(() => database.write(put('x'.repeat(100_000)))).toThrow('full');
    database.connection.exec('PRAGMA max_page_count = 1000000');
    database.write(put('b'));
    expect(names()).toEqual(['a', 'b']);
  });

  it.each([
    [
      'no database',
      (file: string) => writeFile(file, 'this is text, and long enough to be one '.repeat(200)),
    ],
    ['a folder', (file: string) => mkdir(file)],
  ])('says in a sentence that the file is %s', async (_name, make) => {
    const file = join(dir, 'other.db');
    await make(file);
    expect(() => openDatabase(file)).toThrow(StartupError);
    expect(() => openDatabase(file)).toThrow(`${file} cannot be opened as a database`);
  });

  it('is not opened by another release', () => {
    database.close();
    const raw = new DatabaseSync(join(dir, 'test.db'));
    raw.exec('PRAGMA user_version = 999');
    raw.close();
    expect(() => openDatabase(join(dir, 'test.db'))).toThrow(/another release/);
  });
});
