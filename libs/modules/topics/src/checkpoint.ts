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
import { publishedPrefixes } from './topic-records.ts';

export const checkpointStream = 'checkpoint-event-publisher';
/** Minimum time between two writes of a position alone: the last records cover later positions. @unit milliseconds */
const writeEveryMs = 1_000;
/** A slower proof is repeated: the process may have been suspended meanwhile. @unit milliseconds */
const proofMsMax = 1_000;
const proofsMax = 3;
/** Maximum conflicts with other writers of the checkpoint for a republication request. */
const conflictsMax = 10;

const republicationSchema = z.object({
  topics: z.array(z.string()),
  /** Events up to `from` and after `upTo` are published as usual. */
  from: positionSchema,
  upTo: positionSchema,
  /** Every event up to here is on the other topics. */
  reached: positionSchema,
});

const checkpointSchema = z.object({
  /** Address of the topics that the position applies to. On other topics, nothing was published. */
  address: z.string(),
  /** Every event up to here is on its topic, except those of the failed streams. */
  position: positionSchema,
  /** `revision` is the first event that is not on its topic. */
  failedStreams: z.array(failedStreamSchema),
  /** Topics whose events are published again, regardless of their last records. */
  republication: republicationSchema.optional(),
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
 * Requests that the publisher, in any process, publishes the events of these topics again that were recorded at that time or
 * later; all of them without a time. False if nothing was published yet.
 *
 * @throws StoreUnavailable; TollgateError `checkpoint_contended`
 */
export async function requestRepublication(
  deps: StoreDependencies,
  { topics, since }: { topics: readonly string[]; since: number | undefined },
): Promise<boolean> {
  const checkpoint = openCheckpoint(deps);
  const from = since === undefined ? beginning : await positionBefore(deps.store, since);
  for (let conflicts = 0; conflicts < conflictsMax; conflicts += 1) {
    const last = await checkpoint.read();
    if (last === undefined) return false;
    const { republication: underWay, position: reached } = last;
    const republication = {
      topics: [...new Set([...(underWay?.topics ?? []), ...topics])],
      from: earlierOf(from, underWay?.from ?? from),
      // The checkpoint may lag behind the published records.
      upTo: await deps.store.head(),
      reached: underWay?.reached ?? reached,
    };
    const position = earlierOf(from, reached);
    const answer = await checkpoint.replace({ ...last, republication, position });
    if (answer.kind === 'appended') return true;
  }
  throw new TollgateError('checkpoint_contended', 'The publisher keeps writing its checkpoint. Retry.', {
    retryable: true,
  });
}

/** The position before the first event recorded at that time or later. */
async function positionBefore(store: EventStore, since: number): Promise<Position> {
  const { signal } = new AbortController();
  let position = beginning;
  for await (const item of store.subscribe({ from: beginning, prefixes: publishedPrefixes, signal })) {
    if (item.kind === 'caught-up' || item.recordedAt >= since) break;
    position = item.position;
  }
  return position;
}

const earlierOf = (a: Position, b: Position): Position => (a < b ? a : b);

const superseded = () =>
  new TollgateError('publisher_superseded', 'Another publisher has taken over.', { retryable: true });
