/** Where a projection has got to, kept in the store beside the documents. */
import { beginning, type EventStore, type Position, type RecordedEvent } from '@tollgate/event-store';
import {
  checkpointEventType,
  checkpointSchema,
  type ViewCheckpoint,
  type FailedStream,
} from '@tollgate/views';
import { TollgateError, type Ids, type Log } from '@tollgate/service-kit';

export interface Checkpoint {
  /** The last one that was written; the beginning where there is none that holds for the documents of this version. */
  read(): Promise<ViewCheckpoint>;
  /** Writes one, unless another projector has come as far. Gives where the stream stands in the store. */
  write(
    position: Position,
    failedStreams: readonly FailedStream[],
    more?: Pick<ViewCheckpoint, 'isPartial'>,
  ): Promise<Position>;
}

/** Other projectors that write at the same time are met this often at most. */
const conflictsMax = 10;

export interface CheckpointOptions {
  store: EventStore;
  ids: Ids;
  log: Log;
  stream: string;
  /** Of the documents that it is written for. */
  viewSchemaVersions: string;
}

export function createCheckpoint({
  store,
  ids,
  log,
  stream,
  viewSchemaVersions,
}: CheckpointOptions): Checkpoint {
  const none: ViewCheckpoint = {
    schemaVersion: 1,
    viewSchemaVersions,
    position: beginning,
    failedStreams: [],
  };
  let last: RecordedEvent | undefined;
  let revision: number | 'no-stream' = 'no-stream';

  async function read(): Promise<ViewCheckpoint> {
    last = await readLast(store, stream);
    revision = last?.revision ?? 'no-stream';
    if (last === undefined) return none;
    const checkpoint = checkpointSchema.safeParse(last.data);
    if (checkpoint.success && checkpoint.data.viewSchemaVersions === viewSchemaVersions)
      return checkpoint.data;
    if (checkpoint.success) {
      log.warn({ stream }, 'it was written for other documents; all is projected again');
      return none;
    }
    log.error({ stream, revision: last.revision }, 'the checkpoint cannot be read; all is projected again');
    return none;
  }

  const write: Checkpoint['write'] = async (position, failedStreams, more = {}) => {
    const data: ViewCheckpoint = { ...none, position, failedStreams: [...failedStreams], ...more };
    for (let conflicts = 0; conflicts < conflictsMax; conflicts += 1) {
      // Before the first one, so that a crash in between cannot leave a stream that grows.
      if (revision === 'no-stream') await store.keepLast(stream, 1);
      const event = { id: ids.uuid(), type: checkpointEventType, data, metadata: {} };
      const answer = await store.append(stream, [event], revision);
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
  };

  return { read, write };
}

async function readLast(store: EventStore, stream: string): Promise<RecordedEvent | undefined> {
  for await (const event of store.read(stream, { direction: 'backwards', limit: 1 })) return event;
  return undefined;
}

/** What a checkpoint of these documents says; undefined where there is none that can be read, whyever. */
export async function peekCheckpoint(
  store: EventStore,
  stream: string,
  viewSchemaVersions: string,
): Promise<ViewCheckpoint | undefined> {
  const checkpoint = checkpointSchema.safeParse((await readLast(store, stream))?.data);
  return checkpoint.success && checkpoint.data.viewSchemaVersions === viewSchemaVersions
    ? checkpoint.data
    : undefined;
}
