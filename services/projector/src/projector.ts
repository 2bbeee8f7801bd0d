/** Folds the events of payments, payouts and disputes into documents, which are kept in the event store as streams of their own. */
import type { EventStore, Position, RecordedEvent } from '@tollgate/event-store';
import { documentKinds, type FailedStream } from '@tollgate/read-models';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import { createProjection } from './projection.ts';

export interface ProjectorOptions {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Events that are folded before documents are written, at most; 500 by default. */
  batchEventsMax?: number;
  /** Documents kept in memory at most; 5,000 by default. */
  cachedDocumentsMax?: number;
}

export interface ProjectorHealth {
  /** Every event at or before it is in a durable document, except those of `failedStreams`. */
  position: Position;
  /** Streams with an event that could not be applied. Their documents stand still. */
  failedStreams: readonly FailedStream[];
  /** False while the store is not reached or too many streams have failed. */
  isAdvancing: boolean;
}

export interface Projector {
  /**
   * Projects from the checkpoint until the signal is aborted, through failures of the store; may be called again then.
   * Two projectors at a time do twice the work and no harm.
   */
  run(signal: AbortSignal): Promise<void>;
  /** As `run`, in the background. */
  start(): Promise<void>;
  /** Resolves when the batch under way is written or given up. */
  stop(): Promise<void>;
  health(): ProjectorHealth;
}

const prefixes = documentKinds.map(({ streamPrefix }) => streamPrefix);
const firstPauseMs = 200;
const longestPauseMs = 15_000;

export function createProjector(options: ProjectorOptions): Projector {
  const { store, clock, ids, log, batchEventsMax = 500, cachedDocumentsMax = 5_000 } = options;
  const projection = createProjection({ store, clock, ids, log, cachedDocumentsMax });
  let background: { stopping: AbortController; ended: Promise<void> } | undefined;
  let isAdvancing = false;
  let pauseMs = firstPauseMs;

  async function run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await projectFromCheckpoint(signal);
      } catch (error) {
        isAdvancing = false;
        const waitMs = Math.round(pauseMs * (0.5 + ids.fraction() / 2));
        log.error(
          { error, waitMs, position: projection.position() },
          'projecting failed; it resumes from the checkpoint',
        );
        await clock.sleep(waitMs, signal).catch(() => undefined);
        pauseMs = Math.min(pauseMs * 2, longestPauseMs);
      }
    }
    isAdvancing = false;
  }

  async function projectFromCheckpoint(signal: AbortSignal): Promise<void> {
    await projection.resume();
    let batch: RecordedEvent[] = [];
    const from = projection.position();
    for await (const item of store.subscribe({ from, prefixes, signal })) {
      if (item.kind === 'event') batch.push(item);
      if (item.kind === 'event' && batch.length < batchEventsMax) continue;
      await projection.project(batch, item.position);
      batch = [];
      isAdvancing = true;
      pauseMs = firstPauseMs;
    }
  }

  return {
    run,
    start: async () => {
      const stopping = new AbortController();
      background ??= { stopping, ended: run(stopping.signal) };
      await Promise.resolve();
    },
    stop: async () => {
      background?.stopping.abort();
      await background?.ended;
      background = undefined;
    },
    health: () => ({
      position: projection.position(),
      failedStreams: projection.failedStreams(),
      isAdvancing,
    }),
  };
}
