import {
  type AllStreamResolvedEvent,
  type EventStoreDBClient,
  type Filter,
  streamNameFilter,
} from '@eventstore/db-client';
import type { Position, RecordedEvent } from '../event-store.ts';
import { fromPosition, isKnown, toPosition } from './position.ts';
import { isTombstone, toRecordedEvent } from './recorded-event.ts';

/** One subscription of the client, from its start to its end, of any cause. */
export type Feed = ReturnType<typeof openFeed>;

/** `after`: the first event is the next one after this position. */
export function openFeed(
  client: EventStoreDBClient,
  { after, prefixes }: { after: Position; prefixes: readonly string[] },
) {
  let end: { error?: unknown } | undefined;
  let wakeUp: (() => void) | undefined;
  let reached: Position | undefined;
  const onChange = () => wakeUp?.();

  const subscription = client.subscribeToAll({
    fromPosition: fromPosition(after),
    requiresLeader: true,
    resolveLinkTos: false,
    filter: toFilter(prefixes, (place) => {
      if (!isKnown(place)) return;
      reached = toPosition(place);
      onChange();
    }),
  });
  const finish = (cause: { error?: unknown }) => {
    end ??= cause;
    onChange();
  };
  subscription.on('readable', onChange);
  // Without a listener, an error without a reader would end the process.
  subscription.on('error', (error: unknown) => finish({ error }));
  for (const name of ['end', 'close'] as const) subscription.on(name, () => finish({}));

  return {
    /** The next available event; undefined if none is. */
    take: (): RecordedEvent | undefined => {
      for (;;) {
        const resolved = subscription.read() as AllStreamResolvedEvent | null;
        if (resolved === null) return undefined;
        // A link to a deleted event has none.
        if (resolved.event === undefined) continue;
        if (!isTombstone(resolved.event)) return toRecordedEvent(resolved.event);
        reached = toPosition(resolved.event.position);
      }
    },
    /**
     * The furthest position that the server has reported. It is ahead of the events in the buffer: use it only when the buffer
     * is empty.
     */
    checkpoint: (): Position | undefined => reached,
    /** The feed has ended; `error` is the cause, unless it ended silently. */
    ended: (): { error?: unknown } | undefined => end,
    /** An event is available, or it has ended, or the server has reported; for one waiter at a time. */
    changed: (done: () => void) => {
      wakeUp = done;
      if (end !== undefined || subscription.readableLength > 0) done();
      return () => (wakeUp = undefined);
    },
    close: (): void => {
      // Leaving a subscription does not cancel it at the server; without one, there is nothing to cancel.
      subscription.unsubscribe().catch(() => undefined);
      subscription.destroy();
    },
  };
}

/** System streams start with `$`, and no stream of the port does. */
const everyStream = { regex: '^[^$]' };
const noStream = { prefixes: ['$no-stream-of-ours'] };

/** The checkpoint listener must not throw: the error is not handled, and the client stops permanently. */
function toFilter(
  prefixes: readonly string[],
  checkpointReached: (place: { commit: bigint; prepare: bigint }) => void,
): Filter {
  const chosen = prefixes.includes('') ? everyStream : prefixes.length === 0 ? noStream : { prefixes };
  return streamNameFilter({
    ...(chosen as { prefixes: string[] }),
    checkpointReached: async (_subscription, place) => checkpointReached(place),
  });
}
