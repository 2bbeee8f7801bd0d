/** Distributes the shards of the inquiry schedule among the living processes. */
import { inquiryShards } from '@tollgate/core';
import type { Clock, Log } from '@tollgate/service-kit';
import type { InquirySchedule } from './inquiry-schedule.ts';

/** Position of this process among the living ones. */
export interface Place {
  /** From 0. */
  rank: number;
  count: number;
}

export interface InquiryShardsDependencies {
  schedule: Pick<InquirySchedule, 'runShard'>;
  /** Undefined while it takes no part. */
  place: () => Place | undefined;
  /**
   * Does work under a lease, so that one process at a time does the work of a name; processes may see each other at different
   * moments.
   */
  runAlone: (
    name: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<void>,
  ) => Promise<void>;
  clock: Clock;
  log: Log;
}

const pauseMs = 1_000;

/** Takes and releases shards as processes join and leave, until the signal is aborted and the inquiries have ended. */
export async function runShards(deps: InquiryShardsDependencies, signal: AbortSignal): Promise<void> {
  const { schedule, place, runAlone, clock, log } = deps;
  const held = new Map<number, { stopping: AbortController; running: Promise<void> }>();

  function take(shard: number): void {
    const stopping = new AbortController();
    const until = AbortSignal.any([signal, stopping.signal]);
    const running = runAlone(`inquiry-schedule-${shard}`, until, (alone) =>
      schedule.runShard(shard, alone),
    ).finally(() => held.delete(shard));
    running.catch((error: unknown) =>
      log.error(
        { error, operation: 'inquiry-schedule' },
        'a shard of the inquiry schedule failed; it is restarted',
      ),
    );
    held.set(shard, { stopping, running });
  }

  while (!signal.aborted) {
    const own = place();
    for (let shard = 0; shard < inquiryShards; shard += 1) {
      const isOurs = own !== undefined && shard % own.count === own.rank;
      if (isOurs && !held.has(shard)) take(shard);
      if (!isOurs) held.get(shard)?.stopping.abort();
    }
    await clock.sleep(pauseMs, signal).catch(() => undefined);
  }
  await Promise.allSettled([...held.values()].map(({ running }) => running));
}
