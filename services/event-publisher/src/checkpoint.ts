/** How far the publisher has come, kept in the store; at the same time the proof of who publishes. */
import { type EventStore, type Position, beginning } from '@tollgate/event-store';
import type { MessageBus } from '@tollgate/message-bus';
import { type FailedStream, failedStreamSchema } from '@tollgate/views';
import { type Clock, type Ids, TollgateError } from '@tollgate/service-kit';
import { z } from 'zod';
import { publishedTopics } from './published-kinds.ts';

export const checkpointStream = 'checkpoint-event-publisher';
/** Least time between two writes of a position alone, milliseconds: what is read again after a crash is skipped anyway. */
const writeEveryMs = 1_000;
/** A proof that took longer is taken again, milliseconds: a process that was stopped meanwhile may be too late. */
const proofMsMax = 1_000;
const proofsMax = 3;

export interface Progress {
  /** Every event up to here is on its topic, except those of the failed streams. */
  position: Position;
  /** `revision` is the first event that is not on its topic. */
  failedStreams: readonly FailedStream[];
}

const checkpointSchema = z.object({
  /** Addresses of what the position holds for. A topic that is not among them has been given nothing. */
  addresses: z.array(z.string()),
  position: z.custom<Position>((value) => typeof value === 'string' && value.length <= 128),
  failedStreams: z.array(failedStreamSchema),
});

export interface Checkpoint {
  /**
   * Reads the last one and makes it ours: whoever had it publishes nothing any more. `claimedAt` is where in the store
   * that is: whatever was published before has a lower position.
   *
   * @throws StoreUnavailable, BusUnavailable
   */
  claim(): Promise<Progress & { claimedAt: Position }>;
  /** Writes a position now and then only, and `atOnce` where what comes next depends on it. */
  write(progress: Progress, options?: { atOnce?: boolean }): Promise<void>;
  /**
   * Publish right after it, or not at all.
   *
   * @throws TollgateError `publisher_superseded` where another one has claimed it, `store_too_slow` where that was not
   * found out in time; StoreUnavailable
   */
  requireOurs(): Promise<void>;
}

export interface CheckpointDependencies {
  store: EventStore;
  bus: Pick<MessageBus, 'addressOf'>;
  clock: Clock;
  ids: Ids;
}

export function createCheckpoint({ store, bus, clock, ids }: CheckpointDependencies): Checkpoint {
  let addresses: readonly string[] = [];
  let revision: number | 'no-stream' = 'no-stream';
  let written: { at: number; position: Position } | undefined;

  async function readLast(): Promise<{ revision: number; data: unknown } | undefined> {
    for await (const event of store.read(checkpointStream, { direction: 'backwards', limit: 1 }))
      return event;
    return undefined;
  }

  async function append(progress: Progress): Promise<Position> {
    const data: z.infer<typeof checkpointSchema> = {
      addresses: [...addresses],
      position: progress.position,
      failedStreams: [...progress.failedStreams],
    };
    const event = { id: ids.uuid(), type: 'CheckpointMoved', data, metadata: {} };
    const answer = await store.append(checkpointStream, [event], revision);
    if (answer.kind === 'conflict') throw superseded();
    revision = answer.revision;
    written = { at: clock.monotonic(), position: progress.position };
    return answer.position;
  }

  return {
    claim: async () => {
      addresses = await Promise.all(publishedTopics.map((topic) => bus.addressOf(topic)));
      const last = await readLast();
      revision = last?.revision ?? 'no-stream';
      // Before the first one, so that a crash in between cannot leave a stream that grows.
      if (last === undefined) await store.keepLast(checkpointStream, 1);
      const progress = toProgress(last?.data, addresses);
      return { ...progress, claimedAt: await append(progress) };
    },
    write: async (progress, { atOnce = false } = {}) => {
      const isDue = written === undefined || clock.monotonic() >= written.at + writeEveryMs;
      const isNews = written === undefined || progress.position > written.position;
      if (atOnce || (isDue && isNews)) await append(progress);
    },
    requireOurs: async () => {
      for (let proofs = 0; proofs < proofsMax; proofs += 1) {
        const startedAt = clock.monotonic();
        if ((await readLast())?.revision !== revision) throw superseded();
        if (clock.monotonic() - startedAt <= proofMsMax) return;
      }
      throw new TollgateError('store_too_slow', 'The store does not tell in time who publishes.', {
        retryable: true,
      });
    },
  };
}

/**
 * From the beginning where a topic is new, or is one of another bus, or nothing can be read: the last records tell what need
 * not be sent again.
 */
function toProgress(data: unknown, addresses: readonly string[]): Progress {
  const stored = checkpointSchema.safeParse(data);
  if (!stored.success) return { position: beginning, failedStreams: [] };
  const { position, failedStreams } = stored.data;
  const holdsForAll = addresses.every((address) => stored.data.addresses.includes(address));
  return { position: holdsForAll ? position : beginning, failedStreams };
}

const superseded = () =>
  new TollgateError('publisher_superseded', 'Another publisher has taken over.', { retryable: true });
