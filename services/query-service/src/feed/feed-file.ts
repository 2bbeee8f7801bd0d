/** Where the events of each team are: small rows that lead to the streams, in the order of the store. */
import type { DatabaseSync } from 'node:sqlite';
import { type Position, beginning } from '@tollgate/event-store';
import type { Log } from '@tollgate/service-kit';
import { inTransaction, openLocalFile } from '../local-file.ts';

export interface FeedOwner {
  environment: string;
  team: string;
}

/** An event of a team. */
export interface FeedEntry {
  position: Position;
  stream: string;
  revision: number;
}

interface FeedProgress {
  /** Every event up to here is in the file. */
  position: Position;
  /** The last event that was followed: the store that has it there is the store that this file follows. */
  witness: FeedEntry | undefined;
}

/** Each may throw `file_not_openable` (retryable). */
export interface FeedFile {
  progress(): FeedProgress;
  /** In one transaction. @throws where the file has come to another place than `from`, as after it was recreated */
  write(entries: readonly (FeedEntry & { owner: FeedOwner })[], from: Position, progress: FeedProgress): void;
  /** The next ones of the owner, in the order of the store. */
  after(owner: FeedOwner, position: string, limit: number): FeedEntry[];
  clear(): void;
  close(): void;
}

/** "TgFd" */
const applicationId = 0x54674664;

// A number of an owner is never given to another one.
const schema = `
  CREATE TABLE owners (
    id INTEGER PRIMARY KEY AUTOINCREMENT, environment TEXT NOT NULL, team TEXT NOT NULL, UNIQUE (environment, team)
  ) STRICT;
  CREATE TABLE events (
    owner INTEGER NOT NULL, position TEXT NOT NULL, stream TEXT NOT NULL, revision INTEGER NOT NULL,
    PRIMARY KEY (owner, position)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE progress (id INTEGER PRIMARY KEY CHECK (id = 1), value TEXT NOT NULL) STRICT;
`;

/**
 * @param onRecreated called when the file is empty because it was damaged
 * @throws StartupError where it is another program's
 */
export function openFeedFile(path: string, log: Log, onRecreated: () => void): FeedFile {
  // Version 1 could have events of one team under another one.
  const file = openLocalFile({
    ...{ file: path, applicationId, version: 2, schema, log, rowsOf: createFeedRows, onRecreated },
  });
  return {
    progress: () => file.use((rows) => rows.progress()),
    write: (...given) => file.use((rows) => rows.write(...given)),
    after: (...given) => file.use((rows) => rows.after(...given)),
    clear: () => file.use((rows) => rows.clear()),
    close: file.close,
  };
}

function createFeedRows(database: DatabaseSync): Omit<FeedFile, 'close'> {
  const oldOwner = database.prepare('SELECT id FROM owners WHERE environment = ? AND team = ?');
  const newOwner = database.prepare('INSERT INTO owners (environment, team) VALUES (?, ?)');
  const insertion = database.prepare('INSERT OR REPLACE INTO events VALUES (?, ?, ?, ?)');
  const setProgress = database.prepare('INSERT OR REPLACE INTO progress (id, value) VALUES (1, ?)');
  const page = database.prepare(`SELECT position, stream, revision FROM events
    WHERE owner = (SELECT id FROM owners WHERE environment = ? AND team = ?) AND position > ?
    ORDER BY position LIMIT ?`);

  // Not remembered: what a transaction that fails has given away is given away again.
  const idOf = ({ environment, team }: FeedOwner): number =>
    Number(oldOwner.get(environment, team)?.['id'] ?? newOwner.run(environment, team).lastInsertRowid);

  function progress(): FeedProgress {
    const row = database.prepare('SELECT value FROM progress').get();
    if (row === undefined) return { position: beginning, witness: undefined };
    return JSON.parse(String(row['value'])) as FeedProgress;
  }

  return {
    progress,
    write: (entries, from, next) =>
      inTransaction(database, () => {
        if (progress().position !== from) throw new Error('the file of the feed is not where it was left');
        for (const each of entries)
          insertion.run(idOf(each.owner), each.position, each.stream, each.revision);
        setProgress.run(JSON.stringify(next));
      }),
    after: ({ environment, team }, position, limit) =>
      page.all(environment, team, position, limit).map((row) => ({
        position: String(row['position']) as Position,
        stream: String(row['stream']),
        revision: Number(row['revision']),
      })),
    clear: () =>
      inTransaction(database, () => {
        for (const table of ['events', 'owners', 'progress']) database.exec(`DELETE FROM ${table}`);
      }),
  };
}
