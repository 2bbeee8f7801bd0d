/** Keeps the index's file up with the documents in the event store. */
import type { CaughtUp, EventStore, Position, RecordedEvent } from '@tollgate/event-store';
import { paymentStream } from '@tollgate/payment-domain';
import type { Clock, Log } from '@tollgate/service-kit';
import { deletePaymentIndexFile, isDamage, openPaymentIndexFile } from './open-payment-index.ts';
import { paymentDocumentSchema, type PaymentDocument } from './payment-document.ts';
import type { IndexProgress, PaymentIndexFile } from './payment-index-file.ts';
import {
  paymentCheckpointSchema,
  paymentCheckpointStream,
  paymentViewStreamPrefix,
} from './payment-views.ts';
import type { PositionWatch } from './position-watch.ts';

/** Documents per transaction at most; it blocks the event loop for some milliseconds. */
const batchEventsMax = 200;
const retryPauseMs = 500;

export interface IndexFollower {
  /** The open file; undefined before `open`, after `close`, and while a damaged file cannot be replaced. */
  file(): PaymentIndexFile | undefined;
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
  let file: PaymentIndexFile | undefined;

  function rebuild(): PaymentIndexFile {
    file?.close();
    file = undefined;
    deletePaymentIndexFile(path);
    file = openPaymentIndexFile(path, log);
    return file;
  }

  async function fileOfStore(): Promise<PaymentIndexFile> {
    if (file === undefined) return rebuild();
    if (await isOfStore(store, file.progress())) return file;
    log.warn(
      { operation: 'follow-documents' },
      'the index belongs to another event store; it is built again',
    );
    return rebuild();
  }

  async function followOnce(signal: AbortSignal, onCaughtUp: () => void): Promise<void> {
    const current = await fileOfStore();
    let progress = current.progress();
    watch.reset(progress.source);
    const prefixes = [paymentViewStreamPrefix, paymentCheckpointStream];
    let batch: RecordedEvent[] = [];
    for await (const item of store.subscribe({ from: progress.followed, prefixes, signal })) {
      if (item.kind === 'event') batch.push(item);
      if (!isBatchComplete(batch, item)) continue;
      progress = takeOver(current, batch, { progress, log });
      batch = [];
      watch.moveTo(progress.source);
      if (item.kind === 'caught-up') onCaughtUp();
    }
  }

  async function follow(signal: AbortSignal, onCaughtUp: () => void): Promise<void> {
    let isDamaged = false;
    while (!signal.aborted) {
      try {
        if (isDamaged) rebuild();
        isDamaged = false;
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
    file: () => file,
    open: () => {
      file = openPaymentIndexFile(path, log);
    },
    follow,
    close: () => {
      file?.close();
      file = undefined;
    },
  };
}

function isBatchComplete(batch: readonly RecordedEvent[], item: RecordedEvent | CaughtUp): boolean {
  if (item.kind === 'caught-up' || batch.length >= batchEventsMax) return true;
  // Whoever waits for a position waits for the checkpoint.
  return item.stream === paymentCheckpointStream;
}

/** True where the store has the event that the last document was taken from; an empty index fits every store. */
async function isOfStore(store: EventStore, { witness }: IndexProgress): Promise<boolean> {
  if (witness === undefined) return true;
  const { token, revision, position } = witness;
  for await (const event of store.read(paymentStream(token), { from: revision, limit: 1 }))
    return event.revision === revision && event.position === position;
  return false;
}

function takeOver(
  file: PaymentIndexFile,
  batch: readonly RecordedEvent[],
  { progress, log }: { progress: IndexProgress; log: Log },
): IndexProgress {
  const last = batch.at(-1);
  if (last === undefined) return progress;
  const documents = batch.flatMap((event) => toDocuments(event, log));
  const source = batch.reduce((position, event) => sourceAfter(position, event, log), progress.source);
  const witness = documents.map(toWitness).at(-1) ?? progress.witness;
  // Without a witness the file could not be told from another store's, so it remembers nothing.
  if (witness === undefined) return { ...progress, source };
  const next = { followed: last.position, source, witness };
  file.apply(documents, next);
  return next;
}

const toWitness = ({ token, revision, position }: PaymentDocument) => ({ token, revision, position });

function toDocuments(event: RecordedEvent, log: Log): PaymentDocument[] {
  if (event.stream === paymentCheckpointStream) return [];
  const document = paymentDocumentSchema.safeParse(event.data);
  if (document.success) return [document.data];
  const { stream, revision } = event;
  log.error(
    { stream, revision, error: document.error },
    'a document cannot be read; the index goes on without it',
  );
  return [];
}

function sourceAfter(source: Position, event: RecordedEvent, log: Log): Position {
  if (event.stream !== paymentCheckpointStream) return source;
  const checkpoint = paymentCheckpointSchema.safeParse(event.data);
  if (checkpoint.success) return checkpoint.data.position > source ? checkpoint.data.position : source;
  const { stream, revision } = event;
  log.error({ stream, revision, error: checkpoint.error }, 'the checkpoint of the documents cannot be read');
  return source;
}
