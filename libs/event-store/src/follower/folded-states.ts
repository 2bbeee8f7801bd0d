import type { EventStore, RecordedEvent, Revision } from '../event-store.ts';
import { createRecentlyUsed } from '../load-decide-append.ts';

/** A state that was folded from the events of one stream, and the last one that is in it. */
interface Folded {
  revision: Revision;
}

/** The state after one more event of its stream. */
export type FoldStep<State> = (state: State | undefined, event: RecordedEvent) => State;

export interface Step<State> {
  before: State | undefined;
  after: State;
}

/**
 * A pure function of an event. Followers of one process share the events that they read: its result is cached, and dropped with
 * the event.
 */
export function oncePerEvent<Made extends object>(
  make: (event: RecordedEvent) => Made,
): (event: RecordedEvent) => Made {
  const made = new WeakMap<RecordedEvent, Made>();
  return (event) => {
    const known = made.get(event);
    if (known !== undefined) return known;
    const fresh = make(event);
    made.set(event, fresh);
    return fresh;
  };
}

export type FoldedStates<State extends Folded> = ReturnType<typeof createFoldedStates<State>>;

/** Remembers the states that were used last; others are folded again from their streams. */
export function createFoldedStates<State extends Folded>(
  store: Pick<EventStore, 'read'>,
  { statesMax }: { statesMax: number },
) {
  const recent = createRecentlyUsed<State>(statesMax);

  async function before({ stream, revision }: RecordedEvent, fold: FoldStep<State>) {
    if (revision === 0) return undefined;
    const known = recent.get(stream);
    if (known?.revision === revision - 1) return known;
    let state: State | undefined;
    for await (const earlier of store.read(stream, { limit: revision })) state = fold(state, earlier);
    return state;
  }

  return {
    /** The states right before and right after an event. @throws StoreUnavailable; errors of the fold */
    stepOf: async (event: RecordedEvent, fold: FoldStep<State>): Promise<Step<State>> => {
      const state = await before(event, fold);
      const after = fold(state, event);
      recent.set(event.stream, after);
      return { before: state, after };
    },
  };
}
