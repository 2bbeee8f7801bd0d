import type { EventStore } from '@tollgate/event-store';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import type { z } from 'zod';

/** Least time between two writes, milliseconds: what is read again after a crash changes nothing. */
const writeEveryMs = 1_000;

export interface Checkpoint<Value> {
  /** The last one that was written; `initial` where there is none that this version can read. */
  read(): Promise<Value>;
  /** Writes now and then only; `make` is called where it does. */
  write(make: () => Value): Promise<void>;
}

export interface CheckpointOptions<Value> {
  name: string;
  schema: z.ZodType<Value>;
  initial: Value;
}

/** Where a follower of the store has got to, kept in the store itself (stream `checkpoint-<name>`). */
export function createCheckpoint<Value>(
  deps: { store: EventStore; clock: Clock; ids: Ids; log: Log },
  { name, schema, initial }: CheckpointOptions<Value>,
): Checkpoint<Value> {
  const { store, clock, ids, log } = deps;
  const stream = `checkpoint-${name}`;
  let nextWriteAt = 0;

  return {
    async read() {
      for await (const { data, revision } of store.read(stream, { direction: 'backwards', limit: 1 })) {
        const checkpoint = schema.safeParse(data);
        if (checkpoint.success) return checkpoint.data;
        log.error({ stream, revision }, 'a checkpoint cannot be read; all is read again');
        return initial;
      }
      await store.keepLast(stream, 1);
      return initial;
    },
    async write(make) {
      if (clock.monotonic() < nextWriteAt) return;
      // `any`: an older value of a second writer only means that more is read again.
      await store.append(
        stream,
        [{ id: ids.uuid(), type: 'CheckpointMoved', data: make(), metadata: {} }],
        'any',
      );
      nextWriteAt = clock.monotonic() + writeEveryMs;
    },
  };
}
