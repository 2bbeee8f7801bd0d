import {
  type EventStore,
  type NewEvent,
  type Revision,
  createRecentlyUsed,
  decisionTriesMax,
  inAppends,
} from '@tollgate/event-store';
import { BusUnavailable } from '../errors.ts';

type End = Revision | 'no-stream';

/** Ids of records that are remembered, of all partitions; and how many are read of a partition that is met first. */
const rememberedMax = 10_000;
const recalledMax = 100;

/**
 * Writes what a partition must have once, each time behind the end that this process knows of. What has come there
 * meanwhile is thereby met before anything is written: another publisher's records, or those of an earlier try that the
 * store took without confirming them. What was met or written is remembered for a while.
 */
export interface PartitionEnds {
  /** Takes the end that a publisher has just read: what comes behind it is compared with what it publishes then. */
  know(stream: string, end: End): void;
  /**
   * Appends the records whose ids have not come there, in order: a later one is not there without an earlier one.
   *
   * @throws StoreUnavailable; BusUnavailable `partition_contended`
   */
  append(stream: string, records: readonly NewEvent[]): Promise<void>;
}

export function createPartitionEnds(store: EventStore): PartitionEnds {
  const ends = new Map<string, End>();
  const remembered = createRecentlyUsed<object>(rememberedMax);
  /** Somebody has put an older store in its place: what was remembered of records may be gone with them. */
  const forget = (stream: string) => {
    ends.delete(stream);
    remembered.clear();
  };
  const remember = (id: string) => void remembered.set(id, ends);
  /** By stream: appends of one process would only meet one another. */
  const underWay = new Map<string, Promise<void>>();

  async function appendMissing(stream: string, records: readonly NewEvent[]): Promise<void> {
    let end = ends.get(stream) ?? (await recall(stream));
    let missing = records.filter(({ id }) => !remembered.has(id));
    for (let conflicts = 0; missing.length > 0;) {
      const [events = []] = inAppends(missing);
      const answer = await store.append(stream, events, end);
      if (answer.kind === 'appended') {
        for (const { id } of events) remember(id);
        end = answer.revision;
        missing = missing.slice(events.length);
      } else {
        conflicts += 1;
        if (conflicts > decisionTriesMax) {
          forget(stream);
          throw contended(stream);
        }
        const come = await readBehind(stream, end);
        end = come.end;
        missing = missing.filter(({ id }) => !come.ids.has(id));
      }
    }
    ends.set(stream, end);
  }

  async function readBehind(stream: string, known: End): Promise<{ ids: Set<string>; end: End }> {
    const ids = new Set<string>();
    let end = known;
    for await (const { id, revision } of store.read(stream, {
      from: known === 'no-stream' ? 0 : known + 1,
    })) {
      ids.add(id);
      remember(id);
      end = revision;
    }
    return { ids, end };
  }

  /** Of a partition that is met first. */
  async function recall(stream: string): Promise<End> {
    let end: End = 'no-stream';
    for await (const { id, revision } of store.read(stream, { direction: 'backwards', limit: recalledMax })) {
      remember(id);
      if (end === 'no-stream') end = revision;
    }
    return end;
  }

  return {
    know: (stream, end) => {
      if (numberOf(end) < numberOf(ends.get(stream) ?? 'no-stream')) forget(stream);
      ends.set(stream, end);
    },
    append: (stream, records) => {
      const turn = () => appendMissing(stream, records);
      const appending = (underWay.get(stream) ?? Promise.resolve()).then(turn, turn);
      underWay.set(stream, appending);
      return appending;
    },
  };
}

const numberOf = (end: End): number => (end === 'no-stream' ? -1 : end);

const contended = (stream: string) =>
  new BusUnavailable(
    'partition_contended',
    `Others were faster ${decisionTriesMax} times to write to ${stream}.`,
  );
