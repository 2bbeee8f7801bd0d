import { type EventStore, type Position, beginning } from '@tollgate/event-store';
import type { Clock, Ids } from '@tollgate/service-kit';
import { z } from 'zod';

const checkpointSchema = z.object({ position: z.string() });
/** Least time between two writes, milliseconds: what is published again after a crash is skipped anyway. */
const writeEveryMs = 1_000;

export interface Checkpoint {
  read(): Promise<Position>;
  /** Everything up to `position` is published. Written now and then only. */
  write(position: Position): Promise<void>;
}

/** Where a follower of the store has got to, kept in the store itself (stream `checkpoint-<name>`). */
export function createCheckpoint(
  deps: { store: EventStore; clock: Clock; ids: Ids },
  name: string,
): Checkpoint {
  const { store, clock, ids } = deps;
  const stream = `checkpoint-${name}`;
  let written: { at: number; position: Position } | undefined;

  return {
    async read() {
      for await (const event of store.read(stream, { direction: 'backwards', limit: 1 }))
        return checkpointSchema.parse(event.data).position as Position;
      await store.keepLast(stream, 1);
      return beginning;
    },
    async write(position) {
      if (
        written !== undefined &&
        (written.position >= position || clock.monotonic() < written.at + writeEveryMs)
      )
        return;
      // `any`: an older value of a second writer only means that more is skipped again.
      await store.append(
        stream,
        [{ id: ids.uuid(), type: 'CheckpointMoved', data: { position }, metadata: {} }],
        'any',
      );
      written = { at: clock.monotonic(), position };
    },
  };
}
