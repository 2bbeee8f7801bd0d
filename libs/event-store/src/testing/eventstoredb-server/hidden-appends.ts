import type { Appended, Conflict, EventStore, ExpectedRevision, NewEvent } from '../../event-store.ts';
import { readLast } from '../../follower/checkpoint.ts';
import type { Fate } from './faults.ts';

interface StoredAppend {
  stream: string;
  events: readonly NewEvent[];
  expected: ExpectedRevision;
}

/** Appends that a leader has accepted without a quorum. They are kept here, and reach the store once a quorum has them. */
export interface HiddenAppends {
  /** Takes an append that is to be hidden `until` then, or to a stream with hidden events; undefined for other appends. */
  take(append: StoredAppend, until?: Promise<Fate>): Promise<Appended | Conflict | 'no-answer'> | undefined;
}

/** The hidden events at the end of a stream. */
interface HiddenTail {
  /** Revision of the event before the first of them; -1 if there is none. */
  base: Promise<number>;
  events: NewEvent[];
  /** Resolves when they are in the store, or are truncated. */
  fate: Promise<Fate>;
}

export function createHiddenAppends(store: EventStore): HiddenAppends {
  const tails = new Map<string, HiddenTail>();

  function begin(stream: string, until: Promise<Fate>): HiddenTail {
    const base = readLast(store, stream).then((last) => last?.revision ?? -1);
    const tail: HiddenTail = { base, events: [], fate: until.then((fate) => end(stream, tail, fate)) };
    tails.set(stream, tail);
    return tail;
  }

  async function end(stream: string, { base, events }: HiddenTail, fate: Fate): Promise<Fate> {
    let last = await base;
    // More may follow while these are written.
    for (let done = 0; fate === 'shown' && done < events.length;) {
      const next = events.slice(done);
      const answer = await store.append(stream, next, last === -1 ? 'no-stream' : last);
      if (answer.kind === 'conflict')
        throw new Error('another writer has written to a stream with hidden events');
      done += next.length;
      last = answer.revision;
    }
    tails.delete(stream);
    return fate;
  }

  async function takeBehind(tail: HiddenTail, { stream, events, expected }: StoredAppend) {
    const base = await tail.base;
    const last = base + tail.events.length;
    const after = expected === 'any' ? last : expected === 'no-stream' ? -1 : expected;
    const isRepeat =
      after >= base && events.every(({ id }, index) => tail.events[after - base + index]?.id === id);
    if (!isRepeat && after !== last) {
      // It may repeat visible events.
      const answer = after < base ? await store.append(stream, events, expected) : undefined;
      return answer?.kind === 'appended' ? answer : ({ kind: 'conflict', actual: last } as const);
    }
    if (!isRepeat) tail.events.push(...events);
    if ((await tail.fate) === 'lost') return 'no-answer';
    const revision = after + events.length;
    for await (const { position } of store.read(stream, { from: revision, limit: 1 }))
      return { kind: 'appended', revision, position } as const;
    return 'no-answer';
  }

  return {
    take: (append, until) => {
      const known = tails.get(append.stream);
      const tail = known ?? (until === undefined ? undefined : begin(append.stream, until));
      return tail && takeBehind(tail, append);
    },
  };
}
