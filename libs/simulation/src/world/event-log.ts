/** The simulated event store: the order of all events, and their streams. Confirmed events are never lost. */
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
} from '@tollgate/event-store';

interface Stream {
  name: string;
  /** Events visible to reads. */
  events: RecordedEvent[];
  next: Revision;
  keepLast: number;
  /** Appends that the leader has but that are not readable until they are decided. */
  hidden: Write[];
}

interface Write {
  events: readonly SerializedEvent[];
  expected: ExpectedRevision;
  options?: AppendOptions | undefined;
}

interface Shelf {
  now: () => number;
  /** All events that were ever visible, in order, including those that `keepLast` hides from reads. */
  all: RecordedEvent[];
  streams: Map<string, Stream>;
  listeners: Set<(event: RecordedEvent) => void>;
}

export type EventLog = ReturnType<typeof createEventLog>;

export function createEventLog(now: () => number) {
  const shelf: Shelf = { now, all: [], streams: new Map(), listeners: new Set() };
  const { all, streams, listeners } = shelf;
  return {
    append: (name: string, wanted: Write) => append(shelf, opened(shelf, name), wanted),
    /** Appends like a leader without a quorum: the events are not readable until decided, and the append gets no answer. */
    hide: (name: string, wanted: Write) => hide(shelf, opened(shelf, name), wanted),
    read: (name: string, options?: ReadOptions) => readFrom(streams.get(name)?.events ?? [], options),
    /** Events after a position, at most `limit`, and the last position examined. */
    scan: (from: Position, prefixes: readonly string[], limit: number) => scan(shelf, from, prefixes, limit),
    head: () => toPosition(all.length),
    /** Takes a snapshot. @returns a function that restores it and drops all later events */
    backup: () => backUp(shelf),
    truncate: (name: string, before: Revision): void => {
      const stream = streams.get(name);
      if (stream === undefined) return;
      const first = Math.min(before, stream.next - 1);
      stream.events = stream.events.filter(({ revision }) => revision >= first);
    },
    /** Calls `listen` with each event when it becomes visible. */
    onEvent: (listen: (event: RecordedEvent) => void): (() => void) => {
      listeners.add(listen);
      return () => void listeners.delete(listen);
    },
    all: (): readonly RecordedEvent[] => all,
  };
}

const toPosition = (row: number): Position =>
  row === 0 ? beginning : (String(row).padStart(16, '0') as Position);

const empty = () => ({ events: [], next: 0, keepLast: Infinity, hidden: [] });

function opened({ streams }: Shelf, name: string): Stream {
  const stream = streams.get(name) ?? { name, ...empty() };
  streams.set(name, stream);
  return stream;
}

function backUp({ all, streams }: Shelf): () => void {
  const { length } = all;
  const copies = new Map([...streams].map(([name, each]) => [name, { ...each, events: [...each.events] }]));
  return () => {
    all.length = length;
    // Writers hold references to the stream objects, so these are updated in place.
    for (const [name, stream] of streams) Object.assign(stream, copies.get(name) ?? empty(), { hidden: [] });
  };
}

function write({ now, all, listeners }: Shelf, stream: Stream, { events, options }: Write): Appended {
  for (const { id, type, data, metadata } of events) {
    const event: RecordedEvent = {
      kind: 'event',
      id,
      type,
      data: parsed(data),
      metadata: parsed(metadata),
      stream: stream.name,
      revision: stream.next,
      position: toPosition(all.length + 1),
      recordedAt: now(),
    };
    stream.next += 1;
    stream.events.push(event);
    all.push(event);
    for (const listen of [...listeners]) listen(event);
  }
  stream.keepLast = options?.keepLast ?? stream.keepLast;
  stream.events.splice(0, stream.events.length - stream.keepLast);
  return { kind: 'appended', revision: stream.next - 1, position: toPosition(all.length) };
}

function append(shelf: Shelf, stream: Stream, wanted: Write): Appended | Conflict {
  const { events, expected } = wanted;
  if (stream.hidden.length > 0) {
    // Behind an undecided append: queued if it fits, and never confirmed.
    if (fits(stream, wanted)) stream.hidden.push(wanted);
    throw notShown(stream.name);
  }
  if (expected === 'any') return write(shelf, stream, wanted);
  const repeated = repeatOf(stream, events, expected);
  if (repeated !== undefined) return repeated;
  if (stream.next !== after(expected))
    return { kind: 'conflict', actual: stream.next === 0 ? 'no-stream' : stream.next - 1 };
  return write(shelf, stream, wanted);
}

function hide(shelf: Shelf, stream: Stream, wanted: Write): (fate: 'shown' | 'lost') => void {
  if (fits(stream, wanted)) stream.hidden.push(wanted);
  return (fate) => {
    if (!stream.hidden.includes(wanted)) return;
    const decided = stream.hidden;
    stream.hidden = [];
    if (fate === 'shown') for (const each of decided) write(shelf, stream, each);
  };
}

const after = (expected: Revision | 'no-stream'): Revision => (expected === 'no-stream' ? 0 : expected + 1);

function readFrom(
  events: readonly RecordedEvent[],
  { from, direction = 'forwards', limit = Infinity }: ReadOptions = {},
): RecordedEvent[] {
  if (direction === 'forwards')
    return events.filter(({ revision }) => revision >= (from ?? 0)).slice(0, limit);
  const upTo = events.filter(({ revision }) => revision <= (from ?? Infinity));
  return upTo.reverse().slice(0, limit);
}

function scan({ all, streams }: Shelf, from: Position, prefixes: readonly string[], limit: number) {
  const isShown = ({ stream, revision }: RecordedEvent): boolean => {
    const first = streams.get(stream)?.events[0];
    return first !== undefined && revision >= first.revision;
  };
  const events: RecordedEvent[] = [];
  let row = from === beginning ? 0 : Number(from);
  for (; row < all.length && events.length < limit; row += 1) {
    const event = all[row] as RecordedEvent;
    if (prefixes.some((prefix) => event.stream.startsWith(prefix)) && isShown(event)) events.push(event);
  }
  return { events, scannedTo: toPosition(row), isEnd: row >= all.length };
}

function fits(stream: Stream, { events, expected }: Write): boolean {
  if (expected === 'any') return true;
  const written = stream.hidden.reduce((sum, each) => sum + each.events.length, stream.next);
  const isThere = stream.hidden.some((each) => each.events[0]?.id === events[0]?.id);
  return !isThere && written === after(expected);
}

/** A repeated append gets the same answer as the first one. */
function repeatOf(
  { events: kept }: Stream,
  events: readonly SerializedEvent[],
  expected: Revision | 'no-stream',
): Appended | undefined {
  const offset = after(expected) - (kept[0]?.revision ?? 0);
  if (offset < 0 || !events.every(({ id }, index) => kept[offset + index]?.id === id)) return undefined;
  const last = kept[offset + events.length - 1];
  return last && { kind: 'appended', revision: last.revision, position: last.position };
}

/** Frozen because all processes share the same event object. */
const parsed = (text: string): unknown =>
  JSON.parse(text, (_key, value: unknown) => (isObject(value) ? Object.freeze(value) : value));
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

export const storeDown = (): StoreUnavailable =>
  new StoreUnavailable('store_unavailable', 'The simulated event store does not answer.');
