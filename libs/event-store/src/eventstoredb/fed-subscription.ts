import type { CaughtUp, Position, RecordedEvent, SubscribeOptions } from '../event-store.ts';
import type { LoopShare } from '../follower/loop-share.ts';
import type { SharedFeed, SharedFeedMember } from './shared-feed.ts';
import { type Parts, ownSubscription } from './subscription.ts';
import { aborted, firstOf } from './waits.ts';

/**
 * See `EventStore.subscribe`. It has a subscription of its own at the server until it has caught up, and from there on shares
 * one with the others, but where it falls behind.
 */
export async function* subscription(
  parts: Parts,
  shared: SharedFeed,
  { from, prefixes, signal }: SubscribeOptions,
): AsyncGenerator<RecordedEvent | CaughtUp, void, void> {
  let position = from;
  let reportedEnd: Position | undefined;
  let member: SharedFeedMember | undefined;
  // A function, because the compiler does not know that a signal changes while this waits.
  const isAborted = () => signal.aborted;
  try {
    do {
      for await (const item of ownSubscription(parts, { from: position, prefixes, signal })) {
        yield item;
        ({ position } = item);
        // Not before it is asked for more: many end when they have caught up.
        if (item.kind === 'caught-up') {
          reportedEnd = position;
          member ??= shared.join(prefixes, position);
        }
        if (member?.since(position) !== undefined) break;
      }
      if (member === undefined || isAborted()) return;
      ({ position, reportedEnd } = yield* fed(parts.share, member, {
        begin: { position, reportedEnd },
        signal,
      }));
    } while (!isAborted());
  } finally {
    member?.leave();
  }
}

interface Progress {
  position: Position;
  /** Of the last `CaughtUp`. */
  reportedEnd: Position | undefined;
}

/** @returns how far, when it has fallen behind or the signal is aborted */
async function* fed(
  share: LoopShare,
  member: SharedFeedMember,
  { begin, signal }: { begin: Progress; signal: AbortSignal },
): AsyncGenerator<RecordedEvent | CaughtUp, Progress, void> {
  let { position, reportedEnd } = begin;
  const isAborted = () => signal.aborted;
  while (!isAborted()) {
    const found = member.since(position);
    if (found === undefined) return { position, reportedEnd };
    for (const event of found.events) {
      if (isAborted()) return { position, reportedEnd };
      yield event;
      ({ position } = event);
      await share.giveWay();
    }
    ({ position } = found);
    if (found.isEnd && reportedEnd !== position && !isAborted()) {
      reportedEnd = position;
      yield { kind: 'caught-up', position, isGapless: true };
      continue;
    }
    await firstOf(member.beyond(position), aborted(signal));
  }
  return { position, reportedEnd };
}
