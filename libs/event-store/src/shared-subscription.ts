/** Reads and decodes new events once for all subscriptions of a store that have caught up. */
import type { Log } from '@tollgate/service-kit';
import {
  beginning,
  type CaughtUp,
  type Position,
  type RecordedEvent,
  type SubscribeOptions,
} from './event-store.ts';
import { type Wait, aborted, createConditions, firstOf } from './waits.ts';

/** Number of latest events kept: a subscription that lags further reads by itself. */
const heldEventsMax = 1_000;

type Item = RecordedEvent | CaughtUp;
type Subscribe = (options: SubscribeOptions) => AsyncGenerator<Item, void, void>;

/**
 * See `EventStore.subscribe`. Each subscription is independent until it has caught up, and whenever it lags. Otherwise it is
 * fed by a shared one; the events are shared, so none may change one.
 *
 * @param own an independent subscription of the adapter
 */
export function createSharedSubscription(
  own: Subscribe,
  { log, closing }: { log: Log; closing: AbortSignal },
): Subscribe {
  const feed = createFeed(own, { log, closing });
  return async function* subscribe({ from, prefixes, signal }) {
    let position = from;
    let reportedEnd: Position | undefined;
    let member: ReturnType<typeof feed.join> | undefined;
    // A function, because the compiler assumes that a signal does not change during an await.
    const isAborted = () => signal.aborted;
    try {
      while (!isAborted()) {
        for await (const item of own({ from: position, prefixes, signal })) {
          yield item;
          ({ position } = item);
          if (item.kind === 'caught-up') {
            reportedEnd = position;
            // Only on the next request: many end when they have caught up.
            member ??= feed.join(prefixes, position);
          }
          if (member?.since(position) !== undefined) break;
        }
        for (let found = member?.since(position); found !== undefined; found = member?.since(position)) {
          for (const event of found.events) {
            if (isAborted()) return;
            yield event;
          }
          ({ position } = found);
          if (isAborted()) return;
          if (found.end === undefined || reportedEnd === position)
            await firstOf(feed.after(found.version), aborted(signal));
          else {
            reportedEnd = position;
            yield found.end;
          }
        }
      }
    } finally {
      member?.leave();
    }
  };
}

/** The last events, from a position on. */
function createHeldEvents(begin: Position) {
  let events: RecordedEvent[] = [];
  /** All wanted events are kept, after the one position and up to the other. */
  let [from, to] = [begin, begin];
  /** The end of the store, if `to` is it. */
  let end: CaughtUp | undefined;
  return {
    to: () => to,
    add(item: Item): void {
      if (item.position > to) to = item.position;
      end = item.kind === 'caught-up' ? item : undefined;
      if (item.kind === 'event') events.push(item);
      // Not one by one: each would move all others.
      if (events.length < 2 * heldEventsMax) return;
      from = events.at(-heldEventsMax - 1)?.position ?? from;
      events = events.slice(-heldEventsMax);
    },
    /** Undefined if not all of it is kept, or not yet. */
    since(after: Position, prefixes: readonly string[]) {
      if (after < from || after > to) return undefined;
      const first = events.findLastIndex((each) => each.position <= after) + 1;
      return {
        events: events.slice(first).filter(({ stream }) => isIn(prefixes, stream)),
        position: to,
        end,
      };
    },
  };
}

/** Receives the latest events by one subscription with the prefixes of all members. */
function createFeed(own: Subscribe, { log, closing }: { log: Log; closing: AbortSignal }) {
  const members = new Set<readonly string[]>();
  const conditions = createConditions();
  let taking: AbortController | undefined;
  let taken: readonly string[] = [];
  let held = createHeldEvents(beginning);
  let version = 0;
  let isWaking = false;

  /** Once for all events that arrived together. */
  function wake(): void {
    if (isWaking) return;
    isWaking = true;
    setImmediate(() => {
      isWaking = false;
      conditions.wake();
    });
  }

  async function take(signal: AbortSignal): Promise<void> {
    for await (const item of own({ from: held.to(), prefixes: taken, signal })) {
      if (signal.aborted) return;
      held.add(item);
      version += 1;
      wake();
    }
  }

  /** From its current position, with the prefixes of the new member. */
  function takeMore(): void {
    taking?.abort();
    taking = new AbortController();
    taken = [...new Set([...members].flat())];
    take(AbortSignal.any([taking.signal, closing])).catch((error: unknown) =>
      log.error({ error }, 'the shared subscription failed'),
    );
  }

  function leave(prefixes: readonly string[]): void {
    members.delete(prefixes);
    if (members.size > 0) return;
    taking?.abort();
    [taking, taken] = [undefined, []];
  }

  return {
    /** @param position the member has everything up to here */
    join: (prefixes: readonly string[], position: Position) => {
      const wanted = [...prefixes];
      if (members.size === 0) held = createHeldEvents(position);
      members.add(wanted);
      if (taking === undefined || !wanted.every((prefix) => isIn(taken, prefix))) takeMore();
      const heldFor = held.to();
      return {
        since: (after: Position) => {
          const found = after < heldFor ? undefined : held.since(after, wanted);
          return found && { ...found, version };
        },
        leave: () => leave(wanted),
      };
    },
    after: (seen: number): Wait => conditions.until(() => version > seen),
  };
}

const isIn = (prefixes: readonly string[], name: string): boolean =>
  prefixes.some((prefix) => name.startsWith(prefix));
