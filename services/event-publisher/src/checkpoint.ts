/** How far the publisher has come, kept in the store; at the same time the proof of who publishes. */
import {
  type EventStore,
  type Position,
  beginning,
  createCheckpoint,
  failedStreamSchema,
  positionSchema,
} from '@tollgate/event-store';
import type { MessageBus } from '@tollgate/message-bus';
import { type Clock, type Ids, type Log, TollgateError } from '@tollgate/service-kit';
import { z } from 'zod';
import { publishedTopics } from './published-kinds.ts';
import { type TopicEnd, topicEndSchema } from './topic-ends.ts';

export const checkpointStream = 'checkpoint-event-publisher';
/** Least time between two writes of a position alone, milliseconds: what is read again after a crash is skipped anyway. */
const writeEveryMs = 1_000;
/** A proof that took longer is taken again, milliseconds: a process that was stopped meanwhile may be too late. */
const proofMsMax = 1_000;
const proofsMax = 3;

const checkpointSchema = z.object({
  /** Addresses of what the position holds for. A topic that is not among them has been given nothing. */
  addresses: z.array(z.string()),
  /** Every event up to here is on its topic, except those of the failed streams. */
  position: positionSchema,
  /** `revision` is the first event that is not on its topic. */
  failedStreams: z.array(failedStreamSchema),
  /** Where the partitions ended then. */
  ends: z.array(topicEndSchema),
});
type Progress = Omit<z.infer<typeof checkpointSchema>, 'addresses'>;

/** The ends are asked for where it is written only. */
type NewProgress = Omit<Progress, 'ends'> & {
  endsAt: (position: Position) => Promise<readonly TopicEnd[]>;
};

export interface PublisherCheckpoint {
  /**
   * Reads the last one and makes it ours: its former holder publishes nothing any more. `claimedAt` is where in the store
   * that is: whatever was published before has a lower position.
   *
   * @throws StoreUnavailable, BusUnavailable
   */
  claim(): Promise<Progress & { claimedAt: Position }>;
  /** Writes a position now and then only, and `atOnce` where what comes next depends on it. */
  write(progress: NewProgress, options?: { atOnce?: boolean }): Promise<void>;
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
  log: Log;
}

export function createPublisherCheckpoint(deps: CheckpointDependencies): PublisherCheckpoint {
  const { bus, clock } = deps;
  const checkpoint = createCheckpoint({ ...deps, stream: checkpointStream, schema: checkpointSchema });
  let addresses: string[] = [];
  let written: Position | undefined;

  async function replace(progress: Progress): Promise<Position> {
    const answer = await checkpoint.replace({ ...progress, addresses });
    if (answer.kind === 'conflict') throw superseded();
    written = progress.position;
    return answer.position;
  }

  return {
    claim: async () => {
      addresses = await Promise.all(publishedTopics.map((topic) => bus.addressOf(topic)));
      const last = await checkpoint.read();
      // From the beginning where a topic is new or of another bus: the last records tell what need not be sent again.
      const holdsForAll = addresses.every((address) => last?.addresses.includes(address));
      const progress = {
        position: holdsForAll && last !== undefined ? last.position : beginning,
        failedStreams: last?.failedStreams ?? [],
        // Of another bus they say nothing.
        ends: holdsForAll && last !== undefined ? last.ends : [],
      };
      return { ...progress, claimedAt: await replace(progress) };
    },
    write: async ({ endsAt, ...progress }, { atOnce = false } = {}) => {
      const isNews = written === undefined || progress.position > written;
      if (!atOnce && !(isNews && checkpoint.ageMs() >= writeEveryMs)) return;
      await replace({ ...progress, ends: [...(await endsAt(progress.position))] });
    },
    requireOurs: async () => {
      for (let proofs = 0; proofs < proofsMax; proofs += 1) {
        const startedAt = clock.monotonic();
        if (!(await checkpoint.isLast())) throw superseded();
        if (clock.monotonic() - startedAt <= proofMsMax) return;
      }
      throw new TollgateError(
        'store_too_slow',
        'The store did not confirm in time that this publisher holds the claim.',
        {
          retryable: true,
        },
      );
    },
  };
}

const superseded = () =>
  new TollgateError('publisher_superseded', 'Another publisher has taken over.', { retryable: true });
