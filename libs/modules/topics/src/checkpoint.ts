/** The publisher's progress, kept in the event store, and the proof of which process publishes. */
import {
  type EventStore,
  type Position,
  beginning,
  createCheckpoint,
  failedStreamSchema,
  positionSchema,
} from '@tollgate/event-store';
import type { KafkaMessageBus } from '@tollgate/message-bus';
import { type Clock, type Ids, type Log, TollgateError } from '@tollgate/service-kit';
import { z } from 'zod';

export const checkpointStream = 'checkpoint-event-publisher';
/** Minimum time between two writes of a position alone: the last records cover later positions. @unit milliseconds */
const writeEveryMs = 1_000;
/** A slower proof is repeated: the process may have been suspended meanwhile. @unit milliseconds */
const proofMsMax = 1_000;
const proofsMax = 3;
/** Maximum conflicts with other writers of the checkpoint for a republication request. */
const conflictsMax = 10;

const checkpointSchema = z.object({
  /** Address of the topics that the position applies to. On other topics, nothing was published. */
  address: z.string(),
  /** Every event up to here is on its topic, except those of the failed streams. */
  position: positionSchema,
  /** `revision` is the first event that is not on its topic. */
  failedStreams: z.array(failedStreamSchema),
});
export type Progress = Omit<z.infer<typeof checkpointSchema>, 'address'>;

export type PublisherCheckpoint = ReturnType<typeof createPublisherCheckpoint>;

interface StoreDependencies {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
}

const openCheckpoint = (deps: StoreDependencies) =>
  createCheckpoint({ ...deps, stream: checkpointStream, schema: checkpointSchema });

export function createPublisherCheckpoint(
  deps: StoreDependencies & { bus: Pick<KafkaMessageBus, 'address'> },
) {
  const { bus, clock } = deps;
  const checkpoint = openCheckpoint(deps);
  let address = '';
  let written: Position | undefined;

  async function replace(progress: Progress): Promise<Position> {
    const answer = await checkpoint.replace({ ...progress, address });
    if (answer.kind === 'conflict') throw superseded();
    written = progress.position;
    return answer.position;
  }

  return {
    /**
     * Reads the last one and claims it: its former holder publishes nothing further. Everything published before has a position
     * lower than `claimedAt`.
     *
     * @throws StoreUnavailable, BusUnavailable
     */
    claim: async (): Promise<Progress & { claimedAt: Position }> => {
      address = await bus.address();
      const last = await checkpoint.read();
      const progress: Progress =
        last?.address === address ? last : { position: beginning, failedStreams: last?.failedStreams ?? [] };
      return { ...progress, claimedAt: await replace(progress) };
    },
    /** Writes a position once a second at most; `atOnce` if the next step depends on it. */
    write: async (progress: Progress, { atOnce = false }: { atOnce?: boolean } = {}): Promise<void> => {
      const isNews = written === undefined || progress.position > written;
      if (atOnce || (isNews && checkpoint.ageMs() >= writeEveryMs)) await replace(progress);
    },
    /**
     * Publish right after it, or not at all.
     *
     * @throws TollgateError `publisher_superseded`, `store_too_slow`; StoreUnavailable
     */
    requireOurs: async (): Promise<void> => {
      for (let proofs = 0; proofs < proofsMax; proofs += 1) {
        const startedAt = clock.monotonic();
        if (!(await checkpoint.isLast())) throw superseded();
        if (clock.monotonic() - startedAt <= proofMsMax) return;
      }
      throw new TollgateError(
        'store_too_slow',
        'The store did not confirm the claim of this publisher in time.',
        { retryable: true },
      );
    },
  };
}

/**
 * Has the publisher, in any process, go through all events again: it publishes those after the last record of each partition.
 * False if nothing was published yet.
 *
 * @throws StoreUnavailable; TollgateError `checkpoint_contended`
 */
export async function requestRepublication(deps: StoreDependencies): Promise<boolean> {
  const checkpoint = openCheckpoint(deps);
  for (let conflicts = 0; conflicts < conflictsMax; conflicts += 1) {
    const last = await checkpoint.read();
    if (last === undefined) return false;
    const answer = await checkpoint.replace({ ...last, position: beginning });
    if (answer.kind === 'appended') return true;
  }
  throw new TollgateError('checkpoint_contended', 'The publisher keeps writing its checkpoint. Retry.', {
    retryable: true,
  });
}

const superseded = () =>
  new TollgateError('publisher_superseded', 'Another publisher has taken over.', { retryable: true });
