/** The file of the index, which follows the events of payments, payouts and disputes. */
import {
  openLocalProjection,
  type EventStore,
  type LocalProjection,
  type ProjectionState,
  type Position,
  eventsUntilNow,
  openProjectionForReading,
  positionInFile,
} from '@tollgate/event-store';
import type { Postponed } from '@tollgate/core';
import { type Clock, type Ids, type Log, silentLog } from '@tollgate/service-kit';
import {
  checkpointStream,
  foldedPrefixes,
  type LedgerNow,
  type LedgerQuery,
  type ViewEnvelope,
  type ViewKind,
  ledgerPrefixes,
  readLedger,
  viewSchemaVersion,
} from '@tollgate/views';
import type { Standing } from '@tollgate/books';
import { createIndexFile, type IndexFile, type IndexFileOptions } from './index-file.ts';
import { indexSchema } from './index-schema.ts';
import { existsSync } from 'node:fs';
import { allBalancesIn, ledgerSourceOf } from './index-ledger.ts';

/** The readers' side, in this thread or another one. */
export interface FollowedIndex extends Pick<
  LocalProjection<IndexFile>,
  'use' | 'follow' | 'waitFor' | 'close'
> {
  state(): ProjectionState;
  /** Moves due times of inquiries. @throws TollgateError `index_rebuilding`, retryable */
  postpone(postponed: readonly Postponed[]): Promise<void>;
}

interface FollowedIndexOptions extends IndexFileOptions {
  /** Path of the SQLite file, or `:memory:`. */
  file: string;
  store: EventStore;
  log: Log;
  clock: Clock;
  ids: Ids;
  /** Maximum events per transaction; by default few, so that requests are served in between. */
  batchEventsMax?: number;
  /** Called after each change of `state()`. */
  onChange: () => void;
}

/** How its file is marked: one of another schema or version of the views is not read. */
const indexMarks = {
  /** "TgIx" */
  applicationId: 0x54674978,
  schema: indexSchema,
  rules: `views:${viewSchemaVersion}`,
};

/** @throws StartupError `file_foreign` for a file of another program */
export function openFollowedIndex(
  options: FollowedIndexOptions,
): FollowedIndex & Pick<LocalProjection<IndexFile>, 'rebuild'> {
  const { store } = options;
  const projection = openLocalProjection<IndexFile>({
    ...options,
    ...indexMarks,
    name: 'index',
    prefixes: foldedPrefixes,
    comparedWith: checkpointStream,
    rowsOf: (database) => createIndexFile(database, options),
    apply: (file, events) => file.apply(events),
    // A new version of the code may be able to apply them.
    async beforePass(use) {
      for (const { stream, revision } of use((file) => file.quarantined())) {
        const events = await Array.fromAsync(store.read(stream, { from: revision }));
        use((file) => file.retry(stream, events));
      }
    },
  });
  return { ...projection, postpone: async (postponed) => projection.use((file) => file.postpone(postponed)) };
}

/**
 * Undefined: the file does not exist, another version wrote it, or it follows another store.
 *
 * @throws what SQLite throws; StoreUnavailable
 */
export async function openIndexForReading(path: string, { store }: { store: EventStore }) {
  if (!existsSync(path)) return undefined;
  const database = await openProjectionForReading({ ...indexMarks, file: path, store });
  if (database === undefined) return undefined;
  const file = createIndexFile(database, { log: silentLog });
  const position = (): Position => positionInFile(database);
  return {
    position,
    rowOf: (kind: ViewKind, token: string): ViewEnvelope | undefined => file.find(kind, token),
    /** Every balance, and the last event in them. */
    balances: (): { position: Position; standings: Standing[] } =>
      file.atOnce(() => ({ position: position(), standings: allBalancesIn(file) })),
    readLedger: (query: LedgerQuery): Promise<LedgerNow> =>
      readLedger(
        ledgerSourceOf(
          (work) => work(file),
          () => Array.fromAsync(eventsUntilNow(store, { from: position(), prefixes: ledgerPrefixes })),
        ),
        query,
      ),
    close: () => database.close(),
  };
}
