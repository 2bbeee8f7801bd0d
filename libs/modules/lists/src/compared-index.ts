/** Reads an index that another process has open, to compare it with the events. */
import { openLocalFileForReading, positionInFile, type Position } from '@tollgate/event-store';
import { silentLog } from '@tollgate/service-kit';
import type { ViewEnvelope, ViewKind } from '@tollgate/views';
import type { Standing } from '@tollgate/core';
import { createIndexFile } from './index-file.ts';
import { allBalancesIn } from './index-ledger.ts';

/** @throws what SQLite throws */
export function openIndexForComparison(path: string) {
  const database = openLocalFileForReading(path);
  const file = createIndexFile(database, { log: silentLog });
  return {
    position: (): Position => positionInFile(database),
    rowOf: (kind: ViewKind, token: string): ViewEnvelope | undefined => file.find(kind, token),
    /** Every balance, and the last event in them. */
    balances: (): { position: Position; standings: Standing[] } =>
      file.atOnce(() => ({ position: positionInFile(database), standings: allBalancesIn(file) })),
    close: () => database.close(),
  };
}
