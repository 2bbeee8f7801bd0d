import { beginning, type CaughtUp, type Position, type RecordedEvent } from '../event-store.ts';
import { type Parts, ownSubscription } from './subscription.ts';
import type { Wait } from './waits.ts';

/** So many of the last events are held: a member that is further behind has a subscription of its own. */
const heldEventsMax = 1_000;

interface Fed {
  events: readonly RecordedEvent[];
  /** Everything up to here is in `events`, or is not wanted. */
  position: Position;
  isEnd: boolean;
}

/**
 * What was recorded last, taken from the server by one subscription and decoded once for all subscriptions of a store that
 * have caught up. They share the events, so none may change one.
 */
export interface SharedFeed {
  /** @param position the member has everything up to here */
  join(prefixes: readonly string[], position: Position): SharedFeedMember;
}

export interface SharedFeedMember {
  /** Undefined where the feed does not hold that any more, or not yet. */
  since(position: Position): Fed | undefined;
  /** The feed has come further. */
  beyond(position: Position): Wait;
  leave(): void;
}

/** @param closing ends the subscription */
export function createSharedFeed(parts: Parts, closing: AbortSignal): SharedFeed {
  const members = new Set<readonly string[]>();
  const sleepers = new Set<() => void>();
  let taking: AbortController | undefined;
  let taken: readonly string[] = [];
  let held = createHeldEvents(beginning);
  let isWaking = false;

  /** Once for all events that came together. */
  function wake(): void {
    if (isWaking) return;
    isWaking = true;
    setImmediate(() => {
      isWaking = false;
      for (const sleeper of [...sleepers]) sleeper();
    });
  }

  async function take(signal: AbortSignal): Promise<void> {
    for await (const item of ownSubscription(parts, { from: held.to(), prefixes: taken, signal })) {
      if (signal.aborted) return;
      held.add(item);
      wake();
    }
  }

  /** From where it has come to, with what the new member wants. */
  function takeMore(): void {
    taking?.abort();
    taking = new AbortController();
    taken = [...new Set([...members].flat())];
    take(AbortSignal.any([taking.signal, closing])).catch((error: unknown) =>
      parts.log.error({ error }, 'the subscription that others share has failed'),
    );
  }

  function leave(prefixes: readonly string[]): void {
    members.delete(prefixes);
    if (members.size > 0) return;
    taking?.abort();
    [taking, taken] = [undefined, []];
  }

  return {
    join: (prefixes, position) => {
      const own = [...prefixes];
      if (members.size === 0) held = createHeldEvents(position);
      members.add(own);
      if (taking === undefined || !own.every((prefix) => isIn(taken, prefix))) takeMore();
      const heldFor = held.to();
      return {
        since: (after) => {
          const events = after < heldFor ? undefined : held.since(after);
          const head = parts.heads.head();
          const position = held.to();
          return (
            events && {
              events: events.filter(({ stream }) => isIn(own, stream)),
              position,
              isEnd: head !== undefined && position >= head,
            }
          );
        },
        beyond: (position) => (done) => {
          const look = () => {
            if (held.to() > position) done();
          };
          sleepers.add(look);
          look();
          return () => void sleepers.delete(look);
        },
        leave: () => leave(own),
      };
    },
  };
}

/** The last events, from a position on. */
function createHeldEvents(begin: Position) {
  let events: RecordedEvent[] = [];
  let [from, to] = [begin, begin];
  return {
    /** Everything that is wanted is held up to here. */
    to: () => to,
    add: (item: RecordedEvent | CaughtUp) => {
      if (item.position > to) to = item.position;
      if (item.kind !== 'event') return;
      events.push(item);
      // Not one by one: each would move all others.
      if (events.length < 2 * heldEventsMax) return;
      from = events.at(-heldEventsMax - 1)?.position ?? from;
      events = events.slice(-heldEventsMax);
    },
    /** Undefined where not all of it is held. */
    since: (after: Position): RecordedEvent[] | undefined =>
      after < from || after > to
        ? undefined
        : events.slice(events.findLastIndex(({ position }) => position <= after) + 1),
  };
}

const isIn = (prefixes: readonly string[], name: string): boolean =>
  prefixes.some((prefix) => name.startsWith(prefix));
