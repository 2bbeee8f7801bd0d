import { TollgateError, type Clock, type Ids, type Log } from '@tollgate/service-kit';
import { z } from 'zod';
import {
  beginning,
  type Appended,
  type Conflict,
  type EventStore,
  type Position,
  type RecordedEvent,
  type Revision,
} from '../event-store.ts';

/** A position read from a file or a stream. */
export const positionSchema = z.custom<Position>((value) => typeof value === 'string' && value.length <= 128);

export const checkpointEventType = 'CheckpointMoved';

/** Maximum conflicts with other writers of a checkpoint. */
const conflictsMax = 10;

export interface CheckpointOptions<Value> {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Its last event is kept. */
  stream: string;
  schema: z.ZodType<Value>;
}

/** The progress of a follower, stored in the store itself. */
export function createCheckpoint<Value extends { position: Position }>(options: CheckpointOptions<Value>) {
  const { store, clock, ids, log, stream, schema } = options;
  let last: { revision: Revision | 'no-stream'; position?: Position } = { revision: 'no-stream' };
  /** The content of the last one, ours or another follower's. */
  let said = beginning;
  let writtenAt = -Infinity;

  /** The last one written; undefined if there is none that this version can read. */
  async function read(): Promise<Value | undefined> {
    const event = await readLast(store, stream);
    last = event ?? { revision: 'no-stream' };
    if (event === undefined) return undefined;
    const value = schema.safeParse(event.data);
    if (value.success) {
      said = value.data.position;
      return value.data;
    }
    const { revision } = event;
    log.error({ stream, revision }, 'a checkpoint cannot be read; the follower starts at the first event');
    return undefined;
  }

  /** Writes one, if none was written since this follower has read or written. */
  async function replace(value: Value): Promise<Appended | Conflict> {
    const event = { id: ids.uuid(), type: checkpointEventType, data: value, metadata: {} };
    const answer = await store.append(stream, [event], last.revision, { keepLast: 1 });
    if (answer.kind === 'conflict') return answer;
    last = answer;
    said = value.position;
    writtenAt = clock.monotonic();
    return answer;
  }

  /**
   * Writes one, unless another follower has come as far. Returns the position of the current one in the store.
   *
   * @throws TollgateError `checkpoint_contended`
   */
  async function advance(value: Value): Promise<Position> {
    for (let conflicts = 0; conflicts < conflictsMax; conflicts += 1) {
      if (value.position < said && last.position !== undefined) return last.position;
      const answer = await replace(value);
      if (answer.kind === 'appended') return answer.position;
      const theirs = await read();
      if (theirs !== undefined && theirs.position >= value.position && last.position !== undefined)
        return last.position;
    }
    throw new TollgateError('checkpoint_contended', 'Other followers keep replacing the checkpoint.', {
      retryable: true,
    });
  }

  return {
    read,
    replace,
    advance,
    /** True if the last one in the store is the one that this follower has read or written. */
    isLast: async (): Promise<boolean> =>
      ((await readLast(store, stream))?.revision ?? 'no-stream') === last.revision,
    /** Since this one wrote, milliseconds; infinite if it has not. */
    ageMs: (): number => clock.monotonic() - writtenAt,
  };
}

/** The last event of a stream. */
export async function readLast(
  store: Pick<EventStore, 'read'>,
  stream: string,
): Promise<RecordedEvent | undefined> {
  for await (const event of store.read(stream, { direction: 'backwards', limit: 1 })) return event;
  return undefined;
}
