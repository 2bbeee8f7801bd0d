/** Where the projector has got to, kept in the store beside the documents. */
import { beginning, type EventStore, type Position, type RecordedEvent } from '@tollgate/event-store';
import {
  checkpointEventType,
  checkpointSchema,
  checkpointStream,
  documentVersions,
  type DocumentCheckpoint,
  type FailedStream,
} from '@tollgate/read-models';
import { TollgateError, type Ids, type Log } from '@tollgate/service-kit';

export interface Checkpoint {
  /** The last one that was written; the beginning where there is none that holds for the documents of this version. */
  read(): Promise<DocumentCheckpoint>;
  /** Writes one, unless another projector has come as far. Gives where the stream stands in the store. */
  write(position: Position, failedStreams: readonly FailedStream[]): Promise<Position>;
}

/** Other projectors that write at the same time are met this often at most. */
const conflictsMax = 10;

const none: DocumentCheckpoint = {
  schemaVersion: 1,
  documentVersions,
  position: beginning,
  failedStreams: [],
};

export function createCheckpoint({ store, ids, log }: { store: EventStore; ids: Ids; log: Log }): Checkpoint {
  let last: RecordedEvent | undefined;
  let revision: number | 'no-stream' = 'no-stream';

  async function read(): Promise<DocumentCheckpoint> {
    last = undefined;
    for await (const event of store.read(checkpointStream, { direction: 'backwards', limit: 1 }))
      last = event;
    revision = last?.revision ?? 'no-stream';
    if (last === undefined) return none;
    const checkpoint = checkpointSchema.safeParse(last.data);
    if (checkpoint.success && checkpoint.data.documentVersions === documentVersions) return checkpoint.data;
    if (checkpoint.success) {
      log.warn({ stream: checkpointStream }, 'it was written for other documents; all is projected again');
      return none;
    }
    log.error(
      { stream: checkpointStream, revision: last.revision },
      'the checkpoint cannot be read; all is projected again',
    );
    return none;
  }

  async function write(position: Position, failedStreams: readonly FailedStream[]): Promise<Position> {
    const data: DocumentCheckpoint = { ...none, position, failedStreams: [...failedStreams] };
    for (let conflicts = 0; conflicts < conflictsMax; conflicts += 1) {
      // Before the first one, so that a crash in between cannot leave a stream that grows.
      if (revision === 'no-stream') await store.keepLast(checkpointStream, 1);
      const event = { id: ids.uuid(), type: checkpointEventType, data, metadata: {} };
      const answer = await store.append(checkpointStream, [event], revision);
      if (answer.kind === 'appended') {
        revision = answer.revision;
        return answer.position;
      }
      const theirs = await read();
      if (theirs.position >= position && last !== undefined) return last.position;
    }
    throw new TollgateError('checkpoint_contended', 'Other projectors keep writing the checkpoint.', {
      retryable: true,
    });
  }

  return { read, write };
}
