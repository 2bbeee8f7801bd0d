/** The file of an index without a store, for specs. */
import { DatabaseSync } from 'node:sqlite';
import { inTransaction } from '@tollgate/event-store';
import { silentLog } from '@tollgate/service-kit';
import { createIndexFile, type IndexFile, type IndexFileOptions } from '../index-file.ts';
import { indexSchemaOf } from '../index-schema.ts';
import type { IndexedView } from '../index-writer.ts';

export interface TestIndexFile extends IndexFile {
  database: DatabaseSync;
  /** Writes views in a transaction. */
  plant(views: readonly IndexedView[]): void;
  close(): void;
}

export function openIndexFile(path = ':memory:', options: Partial<IndexFileOptions> = {}): TestIndexFile {
  const database = new DatabaseSync(path);
  database.exec(indexSchemaOf(options.scope ?? 'lists'));
  const file = createIndexFile(database, { log: silentLog, ...options });
  return {
    ...file,
    database,
    plant: (views) => inTransaction(database, () => file.write(views)),
    close: () => database.close(),
  };
}
