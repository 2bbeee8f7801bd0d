import { describe, expect, test } from 'vitest';
import type { EventStore, Position, RecordedEvent } from '../event-store.ts';
import { createFoldedStates, type FoldStep } from './folded-states.ts';

interface Seen {
  revision: number;
  revisions: number[];
}
const fold: FoldStep<Seen> = (state, { revision }) => ({
  revision,
  revisions: [...(state?.revisions ?? []), revision],
});

const eventAt = (revision: number, stream = 'payment-p1'): RecordedEvent => ({
  kind: 'event',
  id: `${revision}`,
  type: 'Happened',
  data: {},
  metadata: {},
  stream,
  revision,
  position: String(revision) as Position,
  recordedAt: 0,
});

/** Streams of endless events, and how many of them were read. */
function givenStore() {
  let reads = 0;
  const read: EventStore['read'] = async function* (stream, { limit = 0 } = {}) {
    reads += 1;
    for (let revision = 0; revision < limit; revision += 1) yield eventAt(revision, stream);
  };
  return { store: { read }, reads: () => reads };
}

const upTo = (revision: number) => ({
  revision,
  revisions: Array.from({ length: revision + 1 }, (_, each) => each),
});

describe('the states before and after an event', () => {
  test('are known from the event before, without reading', async () => {
    const { store, reads } = givenStore();
    const states = createFoldedStates<Seen>(store, { statesMax: 2 });
    expect(await states.stepOf(eventAt(0), fold)).toEqual({ before: undefined, after: upTo(0) });
    expect(await states.stepOf(eventAt(1), fold)).toEqual({ before: upTo(0), after: upTo(1) });
    expect(reads()).toBe(0);
  });

  test.each([
    ['that nothing is remembered of', []],
    ['after a gap', [0, 1]],
    ['that comes again', [0, 1, 2, 3, 4]],
  ])('of one %s are folded from the stream', async (_, seen) => {
    const { store, reads } = givenStore();
    const states = createFoldedStates<Seen>(store, { statesMax: 2 });
    for (const revision of seen) await states.stepOf(eventAt(revision), fold);
    expect(await states.stepOf(eventAt(4), fold)).toEqual({ before: upTo(3), after: upTo(4) });
    expect(reads()).toBe(1);
  });

  test('are forgotten first of the stream that was used longest ago', async () => {
    const { store, reads } = givenStore();
    const states = createFoldedStates<Seen>(store, { statesMax: 2 });
    for (const stream of ['a', 'b', 'a', 'c']) await states.stepOf(eventAt(0, stream), fold);
    await states.stepOf(eventAt(1, 'a'), fold);
    expect(reads()).toBe(0);
    await states.stepOf(eventAt(1, 'b'), fold);
    expect(reads()).toBe(1);
  });

  test('of an event that cannot be folded are not remembered', async () => {
    const { store, reads } = givenStore();
    const states = createFoldedStates<Seen>(store, { statesMax: 2 });
    await states.stepOf(eventAt(0), fold);
    const failing = () => {
      throw new Error('undecodable');
    };
    await expect(states.stepOf(eventAt(1), failing)).rejects.toThrow('undecodable');
    expect(await states.stepOf(eventAt(1), fold)).toEqual({ before: upTo(0), after: upTo(1) });
    expect(reads()).toBe(0);
  });
});
