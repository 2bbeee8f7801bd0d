/** Creates and records histories of any kind, for specs. */
import type { NewEvent, Position, RecordedEvent } from '@tollgate/event-store';
import fc from 'fast-check';

/** Part of every planted secret. */
export const planted = 'PLANTED';
export const startedAt = Date.UTC(2026, 0, 2, 3, 4, 5);

export interface AnyEvent {
  type: string;
  data: unknown;
}

/** A transfer between wallets. */
export const walletTransferred: AnyEvent = {
  type: 'WalletTransferred',
  data: {
    environment: 'sandbox',
    account: 'main',
    currency: 'EUR',
    amount: 100,
    from: 'team-shop',
    to: 'wallet-both',
    reason: 'r',
  },
};

/** Events in an order that the domain allows, after the first one. */
export const historiesOf = <State, Event>(
  first: Event,
  candidates: readonly Event[],
  evolve: (state: State | undefined, event: Event) => State,
): fc.Arbitrary<Event[]> =>
  fc.array(fc.constantFrom(...candidates), { maxLength: 30, size: 'max' }).map((events) => {
    const history = [first];
    let state = evolve(undefined, first);
    for (const event of events) {
      try {
        state = evolve(state, event);
        history.push(event);
      } catch {
        // Not allowed here; the history continues without it.
      }
    }
    return history;
  });

const uuid = (number: number) => `00000000-0000-4000-8000-${number.toString().padStart(12, '0')}`;

const metadataOf = (index: number) => ({
  schemaVersion: 1,
  correlationId: 'c-1',
  causationId: 'r-1',
  recordedAt: startedAt + index * 1_000,
  actor: { kind: 'team', team: 'shop', keyId: 'k1' },
});

/** Events as they are given to a store, one second apart. `from` is the revision of the first. */
export const toNewEvents = (events: readonly AnyEvent[], newId: () => string, from = 0): NewEvent[] =>
  events.map(({ type, data }, index) => ({ id: newId(), type, data, metadata: metadataOf(from + index) }));

/** Events as a store returns them, in one stream. */
export function toRecordedIn(stream: string, events: readonly AnyEvent[]): RecordedEvent[] {
  let number = 0;
  const recorded = toNewEvents(events, () => uuid((number += 1)));
  return recorded.map((event, revision) => ({
    ...event,
    kind: 'event',
    stream,
    revision,
    position: (revision + 1).toString().padStart(16, '0') as Position,
    recordedAt: startedAt,
  }));
}
