/** Where the events of each team are: small rows that lead to the streams, in the order of the store. */
import type { Position } from '@tollgate/event-store';
import { beginning } from '@tollgate/event-store';
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
  /** The last of them: the store that has it there is the store that this file follows. */
  witness: FeedEntry | undefined;
}

export interface FeedFile {
  progress(): FeedProgress;
  /** In one transaction. */
  write(entries: readonly (FeedEntry & { owner: FeedOwner })[], position: Position): void;
  /** The next ones of the owner, in the order of the store. */
  after(owner: FeedOwner, position: string, limit: number): FeedEntry[];
  clear(): void;
  close(): void;
}

/** "TgFd" */
const applicationId = 0x54674664;
const schema = `
  CREATE TABLE owners (id INTEGER PRIMARY KEY, environment TEXT NOT NULL, team TEXT NOT NULL, UNIQUE (environment, team)) STRICT;
  CREATE TABLE events (
    owner INTEGER NOT NULL, position TEXT NOT NULL, stream TEXT NOT NULL, revision INTEGER NOT NULL,
    PRIMARY KEY (owner, position)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE progress (id INTEGER PRIMARY KEY CHECK (id = 1), value TEXT NOT NULL) STRICT;
`;

/** @throws StartupError where it is another program's, or cannot be used */
export function openFeedFile(file: string, log: Log): FeedFile {
  const database = openLocalFile({ file, applicationId, version: 1, schema, log });
  const newOwner = database.prepare('INSERT OR IGNORE INTO owners (environment, team) VALUES (?, ?)');
  const oldOwner = database.prepare('SELECT id FROM owners WHERE environment = ? AND team = ?');
  const insertion = database.prepare('INSERT OR REPLACE INTO events VALUES (?, ?, ?, ?)');
  const setProgress = database.prepare('INSERT OR REPLACE INTO progress (id, value) VALUES (1, ?)');
  const page = database.prepare(`SELECT position, stream, revision FROM events
    WHERE owner = (SELECT id FROM owners WHERE environment = ? AND team = ?) AND position > ?
    ORDER BY position LIMIT ?`);
  const ids = new Map<string, number>();

  function idOf({ environment, team }: FeedOwner): number {
    const key = `${environment} ${team}`;
    const known = ids.get(key);
    if (known !== undefined) return known;
    newOwner.run(environment, team);
    const id = Number(oldOwner.get(environment, team)?.['id']);
    ids.set(key, id);
    return id;
  }

  function progress(): FeedProgress {
    const row = database.prepare('SELECT value FROM progress').get();
    if (row === undefined) return { position: beginning, witness: undefined };
    return JSON.parse(String(row['value'])) as FeedProgress;
  }

  return {
    progress,
    write(entries, position) {
      const last = entries.at(-1);
      const witness = last && { position: last.position, stream: last.stream, revision: last.revision };
      inTransaction(database, () => {
        for (const each of entries)
          insertion.run(idOf(each.owner), each.position, each.stream, each.revision);
        setProgress.run(JSON.stringify({ position, witness: witness ?? progress().witness }));
      });
    },
    after: ({ environment, team }, position, limit) =>
      page.all(environment, team, position, limit).map((row) => ({
        position: String(row['position']) as Position,
        stream: String(row['stream']),
        revision: Number(row['revision']),
      })),
    clear() {
      ids.clear();
      inTransaction(database, () => {
        for (const table of ['events', 'owners', 'progress']) database.exec(`DELETE FROM ${table}`);
      });
    },
    close: () => database.close(),
  };
}
