/** Keeps the index's file up with the documents in the event store. */
import {
  beginning,
  type CaughtUp,
  type EventStore,
  type Position,
  type RecordedEvent,
} from '@tollgate/event-store';
import { given, type Clock, type Log } from '@tollgate/service-kit';
import { checkpointSchema, checkpointStream } from './document-checkpoint.ts';
import { streamOf } from './document-kind.ts';
import { documentVersions, viewStreamPrefixes } from './document-kinds.ts';
import { createDocumentReader, type DocumentReader } from './document-reader.ts';
import type { IndexFile, IndexProgress, IndexedDocument } from './index-file.ts';
import { deleteIndexFile, isDamage, openIndexFile } from './open-index-file.ts';
import type { PositionWatch } from './position-watch.ts';

/** Documents per transaction at most; it blocks the event loop for some milliseconds, and payments are taken in between. */
const batchEventsMax = 25;
const retryPauseMs = 500;

/** How far an index is that is not whole yet. */
export interface IndexBuilding {
  /** Position in the store of the last document that was taken over. */
  followed: Position;
  /** Where the documents of the store ended when the building began; absent where there were none. Then come those written since. */
  head?: Position;
  /** How many were taken over since the building began. */
  documents: number;
}

export interface IndexFollower {
  /** The open file; undefined before `open`, after `close`, and while a damaged file cannot be replaced. */
  file(): IndexFile | undefined;
  /** False until every document of now is in the file. */
  isComplete(): boolean;
  /** How far the building has come; undefined once `isComplete`. */
  building(): IndexBuilding | undefined;
  /** To be told of damage that a read has met. */
  rebuildSoon(error: unknown): void;
  /** @throws StartupError where the file cannot be used. */
  open(): void;
  /** Follows the documents until the signal is aborted, through failures of the store and the file. */
  follow(signal: AbortSignal, onCaughtUp: () => void): Promise<void>;
  close(): void;
}

export interface IndexFollowerOptions {
  /** Path of the SQLite file. */
  path: string;
  store: EventStore;
  log: Log;
  clock: Clock;
  /** Is moved to the position that the documents in the file have come to. */
  watch: PositionWatch;
}

export function createIndexFollower({ path, store, log, clock, watch }: IndexFollowerOptions): IndexFollower {
  const held = createHeldFile({ path, store, log });
  let isComplete = false;
  let building: IndexBuilding = { followed: beginning, documents: 0 };
  let isDamaged = false;
  let restarting = new AbortController();

  async function followOnce(signal: AbortSignal, onCaughtUp: () => void): Promise<void> {
    restarting = new AbortController();
    const fileBefore = held.file();
    if (isDamaged) held.rebuild();
    isDamaged = false;
    const file = await held.fileOfStore();
    // One that was whole stays so while the store is not reached.
    if (file !== fileBefore) isComplete = false;
    const documents = createDocumentReader({ store, log });
    let progress = file.progress();
    watch.reset(progress.source);
    building = { followed: progress.followed, documents: 0, ...given({ head: await headOf(store) }) };
    const untilRestart = AbortSignal.any([signal, restarting.signal]);
    const prefixes = [...viewStreamPrefixes, checkpointStream];
    let batch: RecordedEvent[] = [];
    for await (const item of store.subscribe({ from: progress.followed, prefixes, signal: untilRestart })) {
      if (item.kind === 'event') batch.push(item);
      if (!isBatchComplete(batch, item)) continue;
      progress = await takeOver(file, batch, { progress, documents, log });
      // Others have work as well while many documents are taken over.
      if (batch.length >= batchEventsMax) await nextTurn();
      const { followed } = progress;
      building = { ...building, followed, documents: building.documents + batch.length };
      batch = [];
      watch.moveTo(progress.source);
      if (item.kind !== 'caught-up') continue;
      isComplete = !isDamaged;
      onCaughtUp();
    }
  }

  async function follow(signal: AbortSignal, onCaughtUp: () => void): Promise<void> {
    while (!signal.aborted) {
      try {
        await followOnce(signal, onCaughtUp);
      } catch (error) {
        isDamaged ||= isDamage(error);
        log.error(
          { error, waitMs: retryPauseMs, operation: 'follow-documents' },
          'the index fell behind; it tries again',
        );
        await clock.sleep(retryPauseMs, signal).catch(() => undefined);
      }
    }
  }

  return {
    file: held.file,
    isComplete: () => isComplete,
    building: () => (isComplete ? undefined : building),
    rebuildSoon: (error) => {
      log.error({ error, operation: 'read-index' }, 'the index is damaged; it is built again');
      isDamaged = true;
      isComplete = false;
      restarting.abort();
    },
    open: held.open,
    follow,
    close: held.close,
  };
}

/** The file, which another one takes the place of where it is damaged or another store's. */
function createHeldFile({ path, store, log }: Pick<IndexFollowerOptions, 'path' | 'store' | 'log'>) {
  let file: IndexFile | undefined;

  function close(): void {
    file?.close();
    file = undefined;
  }

  function rebuild(): IndexFile {
    close();
    deleteIndexFile(path);
    file = openIndexFile(path, log);
    return file;
  }

  return {
    file: () => file,
    open: () => {
      file = openIndexFile(path, log);
    },
    close,
    rebuild,
    fileOfStore: async (): Promise<IndexFile> => {
      if (file === undefined) return rebuild();
      if (await isOfStore(store, file.progress())) return file;
      log.warn(
        { operation: 'follow-documents' },
        'the index belongs to another event store; it is built again',
      );
      return rebuild();
    },
  };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function isBatchComplete(batch: readonly RecordedEvent[], item: RecordedEvent | CaughtUp): boolean {
  if (item.kind === 'caught-up' || batch.length >= batchEventsMax) return true;
  // Whoever waits for a position waits for the checkpoint.
  return item.stream === checkpointStream;
}

/** The checkpoint is written after the documents. */
async function headOf(store: EventStore): Promise<Position | undefined> {
  for await (const { position } of store.read(checkpointStream, { direction: 'backwards', limit: 1 }))
    return position;
  return undefined;
}

/** True where the store has the event that the last document was taken from; an empty index fits every store. */
async function isOfStore(store: EventStore, { witness }: IndexProgress): Promise<boolean> {
  if (witness === undefined) return true;
  const { stream, revision, position } = witness;
  for await (const event of store.read(stream, { from: revision, limit: 1 }))
    return event.revision === revision && event.position === position;
  return false;
}

/** Writes a batch into the file. Gives how far the file has come. */
async function takeOver(
  file: IndexFile,
  batch: readonly RecordedEvent[],
  { progress, documents, log }: { progress: IndexProgress; documents: DocumentReader; log: Log },
): Promise<IndexProgress> {
  const last = batch.at(-1);
  if (last === undefined) return progress;
  const found: IndexedDocument[] = [];
  for (const event of batch) {
    const document = event.stream === checkpointStream ? undefined : await documents.read(event);
    if (document !== undefined) found.push(document);
  }
  const source = batch.reduce((position, event) => sourceAfter(position, event, log), progress.source);
  const witness = found.map(toWitness).at(-1) ?? progress.witness;
  // Without a witness the file could not be told from another store's, so it remembers nothing.
  if (witness === undefined) return { ...progress, source };
  const next = { followed: last.position, source, witness };
  file.apply(found, next);
  return next;
}

const toWitness = ({ kind, document: { token, revision, position } }: IndexedDocument) => ({
  stream: streamOf(kind, token),
  revision,
  position,
});

function sourceAfter(source: Position, event: RecordedEvent, log: Log): Position {
  if (event.stream !== checkpointStream) return source;
  const checkpoint = checkpointSchema.safeParse(event.data);
  if (!checkpoint.success) {
    const { stream, revision } = event;
    log.error(
      { stream, revision, error: checkpoint.error },
      'the checkpoint of the documents cannot be read',
    );
    return source;
  }
  // What holds for the documents of another version says nothing about these.
  if (checkpoint.data.documentVersions !== documentVersions) return source;
  return checkpoint.data.position > source ? checkpoint.data.position : source;
}
