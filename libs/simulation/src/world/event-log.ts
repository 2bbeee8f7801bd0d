/** What the simulated event store keeps: the order of all events, and the streams in it. It never forgets what it confirmed. */
import {
  type Appended,
  type AppendOptions,
  type Conflict,
  type ExpectedRevision,
  type Position,
  type ReadOptions,
  type RecordedEvent,
  type Revision,
  type SerializedEvent,
  StoreUnavailable,
  beginning,
  notShown,
  streamRemoved,
} from '@tollgate/event-store';

interface Stream {
  /** Those that reads show. */
  events: RecordedEvent[];
  next: Revision;
  keepLast: number;
  isRemoved: boolean;
  /** Appends that the leader has and nobody can read, until they are decided. */
  hidden: Write[];
}

interface Write {
  events: readonly SerializedEvent[];
  expected: ExpectedRevision;
  options: AppendOptions;
}

export interface EventLog {
  append(
    stream: string,
    events: readonly SerializedEvent[],
    expected: ExpectedRevision,
    options?: AppendOptions,
  ): Appended | Conflict;
  /** Takes it as a leader without a quorum does: nobody sees it until `decide`, and the append gets no answer. */
  hide(
    stream: string,
    events: readonly SerializedEvent[],
    expected: ExpectedRevision,
    options?: AppendOptions,
  ): (fate: 'shown' | 'lost') => void;
  read(stream: string, options?: ReadOptions): RecordedEvent[];
  /** Events after a position, at most `limit`, and up to where was looked. */
  scan(
    from: Position,
    prefixes: readonly string[],
    limit: number,
  ): { events: RecordedEvent[]; scannedTo: Position; isEnd: boolean };
  head(): Position;
  /** As it is now. @returns what makes it so again: all that came since is gone */
  backup(): () => void;
  keepLast(stream: string, count: number): void;
  truncate(stream: string, before: Revision): void;
  remove(stream: string): void;
  /** Hears of each event when it becomes visible. */
  onEvent(listen: (event: RecordedEvent) => void): () => void;
  /** All that were ever visible, in order; also what `keepLast` hides from reads by now. */
  all(): readonly RecordedEvent[];
}

const toPosition = (row: number): Position => String(row).padStart(16, '0') as Position;

/** The streams by name, and what is written to them in order. */
interface Shelf {
  all: RecordedEvent[];
  existing(name: string): Stream | undefined;
  /** @throws StoreUnavailable for one that was removed */
  opened(name: string): Stream;
  write(name: string, stream: Stream, write: Write): Appended;
}

export function createEventLog(now: () => number): EventLog {
  const streams = new Map<string, Stream>();
  const listeners = new Set<(event: RecordedEvent) => void>();
  const shelf = createShelf(now, streams, listeners);
  const { all, existing, opened } = shelf;
  return {
    append: (name, events, expected, options = {}) => append(shelf, name, { events, expected, options }),
    hide: (name, events, expected, options = {}) => hide(shelf, name, { events, expected, options }),
    read: (name, options) => readFrom(existing(name)?.events ?? [], options),
    scan: (from, prefixes, limit) => scan(shelf, from, prefixes, limit),
    head: () => (shelf.all.length === 0 ? beginning : toPosition(shelf.all.length)),
    backup: () => backUp(shelf.all, streams),
    keepLast: (name, count) => {
      const stream = opened(name);
      stream.keepLast = count;
      trim(stream);
    },
    truncate: (name, before) => {
      const stream = existing(name);
      if (stream === undefined) return;
      const first = Math.min(before, stream.next - 1);
      stream.events = stream.events.filter(({ revision }) => revision >= first);
    },
    remove: (name) => {
      const stream = existing(name) ?? opened(name);
      Object.assign(stream, { events: [], isRemoved: true, hidden: [] });
    },
    onEvent: (listen) => {
      listeners.add(listen);
      return () => void listeners.delete(listen);
    },
    all: () => all,
  };
}

function backUp(all: RecordedEvent[], streams: ReadonlyMap<string, Stream>): () => void {
  const { length } = all;
  const copies = new Map([...streams].map(([name, each]) => [name, { ...each, events: [...each.events] }]));
  const empty = { next: 0, keepLast: Infinity, isRemoved: false };
  return () => {
    all.length = length;
    // Whoever writes to one of them still holds it.
    for (const [name, stream] of streams)
      Object.assign(stream, { ...(copies.get(name) ?? { ...empty, events: [] }), hidden: [] });
  };
}

function createShelf(
  now: () => number,
  streams: Map<string, Stream>,
  listeners: ReadonlySet<(event: RecordedEvent) => void>,
): Shelf {
  const all: RecordedEvent[] = [];
  return {
    all,
    existing: (name) => streams.get(name),
    opened: (name) => {
      const stream = streams.get(name) ?? {
        events: [],
        next: 0,
        keepLast: Infinity,
        isRemoved: false,
        hidden: [],
      };
      streams.set(name, stream);
      if (stream.isRemoved) throw streamRemoved();
      return stream;
    },
    write: (name, stream, { events, options }) => {
      for (const { id, type, data, metadata } of events) {
        const event: RecordedEvent = {
          kind: 'event',
          id,
          type,
          data: parsed(data),
          metadata: parsed(metadata),
          stream: name,
          revision: stream.next,
          position: toPosition(all.length + 1),
          recordedAt: now(),
        };
        stream.next += 1;
        stream.events.push(event);
        all.push(event);
        for (const listen of [...listeners]) listen(event);
      }
      if (options.keepLast !== undefined) stream.keepLast = options.keepLast;
      trim(stream);
      return { kind: 'appended', revision: stream.next - 1, position: toPosition(all.length) };
    },
  };
}

function trim(stream: Stream): void {
  const excess = stream.events.length - stream.keepLast;
  if (excess > 0) stream.events.splice(0, excess);
}

function append({ opened, write }: Shelf, name: string, wanted: Write): Appended | Conflict {
  const { events, expected } = wanted;
  const stream = opened(name);
  if (stream.hidden.length > 0) {
    // Behind what nobody can read: taken along if it fits, and in any case not confirmed.
    if (fits(stream, wanted)) stream.hidden.push(wanted);
    throw notShown(name);
  }
  if (expected === 'any') return write(name, stream, wanted);
  const repeated = repeatOf(stream, events, expected);
  if (repeated !== undefined) return repeated;
  if (stream.next !== after(expected))
    return { kind: 'conflict', actual: stream.next === 0 ? 'no-stream' : stream.next - 1 };
  return write(name, stream, wanted);
}

function hide({ opened, write }: Shelf, name: string, wanted: Write): (fate: 'shown' | 'lost') => void {
  const stream = opened(name);
  if (fits(stream, wanted)) stream.hidden.push(wanted);
  return (fate) => {
    if (!stream.hidden.includes(wanted)) return;
    const decided = stream.hidden;
    stream.hidden = [];
    if (fate === 'lost' || stream.isRemoved) return;
    for (const each of decided) write(name, stream, each);
  };
}

const after = (expected: Revision | 'no-stream'): Revision => (expected === 'no-stream' ? 0 : expected + 1);

function readFrom(
  events: readonly RecordedEvent[],
  { from, direction = 'forwards', limit = Infinity }: ReadOptions = {},
): RecordedEvent[] {
  if (direction === 'forwards') {
    const first = events[0]?.revision ?? 0;
    return events.slice(Math.max(0, (from ?? 0) - first)).slice(0, Math.min(limit, events.length));
  }
  const upTo = from === undefined ? events : events.filter(({ revision }) => revision <= from);
  return upTo.slice(Math.max(0, upTo.length - limit)).reverse();
}

function scan({ all, existing }: Shelf, from: Position, prefixes: readonly string[], limit: number) {
  const isShown = ({ stream, revision }: RecordedEvent): boolean => {
    const first = existing(stream)?.events[0];
    return first !== undefined && revision >= first.revision;
  };
  const events: RecordedEvent[] = [];
  let row = from === beginning ? 0 : Number(from);
  for (; row < all.length && events.length < limit; row += 1) {
    const event = all[row] as RecordedEvent;
    if (prefixes.some((prefix) => event.stream.startsWith(prefix)) && isShown(event)) events.push(event);
  }
  return { events, scannedTo: row === 0 ? beginning : toPosition(row), isEnd: row >= all.length };
}

function fits(stream: Stream, { events, expected }: Write): boolean {
  if (expected === 'any') return true;
  const written = stream.hidden.reduce((sum, each) => sum + each.events.length, stream.next);
  const isThere = stream.hidden.some((each) => each.events[0]?.id === events[0]?.id);
  return !isThere && written === after(expected);
}

/** A repeated append is answered as the first one was. */
function repeatOf(
  { events: kept }: Stream,
  events: readonly SerializedEvent[],
  expected: Revision | 'no-stream',
): Appended | undefined {
  const first = after(expected);
  const offset = first - (kept[0]?.revision ?? 0);
  if (offset < 0 || !events.every(({ id }, index) => kept[offset + index]?.id === id)) return undefined;
  const last = kept[offset + events.length - 1];
  return last && { kind: 'appended', revision: last.revision, position: last.position };
}

/** Frozen: all processes read the same one. */
const parsed = (text: string): unknown => deepFreeze(JSON.parse(text));

function deepFreeze(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) deepFreeze(inner);
    Object.freeze(value);
  }
  return value;
}

export const storeDown = (): StoreUnavailable =>
  new StoreUnavailable('store_unavailable', 'The simulated event store does not answer.');
