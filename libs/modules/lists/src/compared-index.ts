/** Reads an index that another process may have open. */
import { existsSync } from 'node:fs';
import {
  type EventStore,
  type Position,
  eventsUntilNow,
  openProjectionForReading,
  positionInFile,
} from '@tollgate/event-store';
import { silentLog } from '@tollgate/service-kit';
import {
  type LedgerNow,
  type LedgerQuery,
  type ViewEnvelope,
  type ViewKind,
  ledgerPrefixes,
  readLedger,
} from '@tollgate/views';
import type { Standing } from '@tollgate/core';
import { indexMarksOf } from './followed-index.ts';
import { createIndexFile } from './index-file.ts';
import { allBalancesIn, balancesIn, spentIn } from './index-ledger.ts';
import type { IndexScope } from './index-schema.ts';

/**
 * Undefined: the file does not exist, another version wrote it, or it follows another store.
 *
 * @throws what SQLite throws; StoreUnavailable
 */
export async function openIndexForReading(
  path: string,
  { store, scope = 'lists' }: { store: EventStore; scope?: IndexScope },
) {
  if (!existsSync(path)) return undefined;
  const database = await openProjectionForReading({ ...indexMarksOf(scope), file: path, store });
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
        {
          recent: () =>
            Array.fromAsync(eventsUntilNow(store, { from: position(), prefixes: ledgerPrefixes })),
          quarantined: () => file.quarantined(),
          find: (kind, token) => file.find(kind, token),
          balances: (wallet) => balancesIn(file, wallet),
          spent: (asked) => spentIn(file, asked),
          atOnce: (work) => file.atOnce(work),
        },
        query,
      ),
    close: () => database.close(),
  };
}
