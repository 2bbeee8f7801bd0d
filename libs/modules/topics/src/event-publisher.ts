/**
 * Event store → the public topics on Kafka: every event of every payment, payout and dispute, and every entry of the journal,
 * in the order of its stream, without a gap and without a duplicate.
 *
 * Records are written in the order of the store's positions, one batch at a time, and each carries the position that its
 * partition has reached. After a crash or a failed send, the last record of a partition shows what the partition has.
 */
import {
  type FailedStream,
  type Position,
  type RecordedEvent,
  beginning,
  createFollower,
} from '@tollgate/event-store';
import { type PublishingDependencies, publishFromCheckpoint } from './publishing.ts';

export type EventPublisherDependencies = PublishingDependencies;

export interface PublisherHealth {
  /** Every event at or before it is on its topic, except those of `failedStreams`. */
  position: Position;
  /** False while the store or the bus is unavailable, or too many streams have failed. */
  isAdvancing: boolean;
  /** Error code that ended the last pass, if none has made progress since. */
  failure: string | undefined;
  /** How long events have been waiting for their topic, milliseconds; 0 if none is known to wait. */
  lagMs: number;
  /** Streams with an event that could not be published. They wait for the next start. */
  failedStreams: readonly FailedStream[];
}

export function createEventPublisher(deps: EventPublisherDependencies) {
  const watch = createWatch(deps);
  const follower = createFollower({ ...deps, name: 'publish' }, async (signal, gotOn) => {
    watch.interrupted();
    const reached = (position: Position, isAtEnd: boolean): void => {
      gotOn();
      watch.reached(position, isAtEnd);
    };
    try {
      await publishFromCheckpoint(deps, { ...watch, reached }, signal);
    } finally {
      watch.interrupted();
    }
  });
  return {
    /**
     * Publishes until the signal is aborted, through failures of the store and the bus; may be called again afterwards. Two
     * concurrent publishers conflict and may write records twice: run it under a lease.
     */
    run: follower.run,
    health: (): PublisherHealth => ({ ...watch.health(), ...follower.health() }),
  };
}

function createWatch({ clock }: Pick<EventPublisherDependencies, 'clock'>) {
  let position = beginning;
  let failedStreams: readonly FailedStream[] = [];
  /** Last time that nothing waited, and time of the oldest waiting event. */
  let behindSince: number | undefined;
  let oldestRecordedAt: number | undefined;

  const lagMs = (): number =>
    behindSince === undefined
      ? 0
      : Math.max(clock.monotonic() - behindSince, clock.now() - (oldestRecordedAt ?? clock.now()));

  return {
    pending: ({ recordedAt }: RecordedEvent) => {
      behindSince ??= clock.monotonic();
      oldestRecordedAt ??= recordedAt;
    },
    reached: (to: Position, isAtEnd: boolean) => {
      [position, oldestRecordedAt] = [to, undefined];
      behindSince = isAtEnd ? undefined : clock.monotonic();
    },
    failed: (streams: readonly FailedStream[]) => void (failedStreams = streams),
    /** Later events may wait. */
    interrupted: () => void (behindSince ??= clock.monotonic()),
    health: () => ({ position, lagMs: lagMs(), failedStreams }),
  };
}
