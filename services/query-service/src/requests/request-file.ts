/**
 * The SQLite file of what is kept of requests. It is written often and is nobody's only copy of anything that moves money:
 * a commit need not reach the disk, and a damaged file is begun anew.
 */
import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type Log, StartupError } from '@tollgate/service-kit';

/** "TgRq": marks our files, because another program's file must not be deleted. */
const applicationId = 0x54675271;
const version = 1;
const busyTimeoutMs = 1_000;

// Of one team, later requests stand behind earlier ones: an insertion is at the end of its part, and a page is read off.
const schema = `
  CREATE TABLE requests (
    environment TEXT NOT NULL, team TEXT NOT NULL, id TEXT NOT NULL,
    method TEXT NOT NULL, route TEXT, status INTEGER, error_code TEXT,
    duration_ms REAL NOT NULL, provider_ms REAL NOT NULL,
    key_id TEXT, token TEXT, client_request_id TEXT,
    PRIMARY KEY (environment, team, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX requests_by_token ON requests (environment, team, token, id) WHERE token IS NOT NULL;
`;

/**
 * Opens the file; it is empty where there was none, where it was damaged, or where another version wrote it.
 *
 * @throws StartupError where it is another program's, or cannot be used
 */
export function openRequestFile(file: string, log: Log): DatabaseSync {
  try {
    return openOnce(file);
  } catch (error) {
    if (error instanceof StartupError) throw error;
    log.warn(
      { error, operation: 'open-requests' },
      'what was kept of requests cannot be read; it is begun anew',
    );
    deleteRequestFile(file);
  }
  try {
    return openOnce(file);
  } catch (cause) {
    throw new StartupError(
      'requests_not_openable',
      `The file ${file} cannot be opened: make it and its directory writable.`,
      { cause },
    );
  }
}

function deleteRequestFile(file: string): void {
  if (file === ':memory:') return;
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
}

function openOnce(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: busyTimeoutMs });
  try {
    const isNew = database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
    if (!isNew) requireOurs(database, file);
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;');
    if (isNew)
      database.exec(
        `BEGIN; PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}; ${schema} COMMIT;`,
      );
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function requireOurs(database: DatabaseSync, file: string): void {
  const pragma = (name: string) => Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
  if (pragma('application_id') !== applicationId)
    throw new StartupError(
      'requests_foreign',
      `${file} is a database of another program: set another TOLLGATE_INDEX_DIR.`,
    );
  if (pragma('user_version') !== version) throw new Error('another version wrote it');
}
