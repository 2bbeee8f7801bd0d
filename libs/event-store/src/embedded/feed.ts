import type { RecordedEvent } from '../event-store.ts';
import type { CommitWatch } from './commit-watch.ts';
import { fromPosition } from './position.ts';
import type { Reader } from './reader.ts';
import type { Window } from './scanner.ts';

/** So many of the last events are in memory, or of so much text: a subscription that is further behind reads the file. */
const heldEventsMax = 2_000;
const heldBytesMax = 4 * 1_048_576;

/** What came after a row number, and how many commits had been noticed when that was read. */
interface FedWindow extends Window {
  asOf: number;
}

/**
 * What was recorded last, read and decoded once for all subscriptions of a store that have caught up. They share the
 * events, so none may change one.
 */
export interface Feed {
  /** @param rowNumber the member has everything up to here */
  join(prefixes: readonly string[], rowNumber: number): FeedMember;
}

export interface FeedMember {
  /** Undefined where the feed does not hold that any more, or not yet: read the file. @throws StoreUnavailable */
  since(rowNumber: number): FedWindow | undefined;
  leave(): void;
}

interface Held {
  rowNumber: number;
  event: RecordedEvent;
  bytes: number;
}

export function createFeed(reader: Pick<Reader, 'scanner'>, commits: Pick<CommitWatch, 'count'>): Feed {
  const members = new Set<readonly string[]>();
  let scan: ReturnType<Reader['scanner']> | undefined;
  let held: Held[] = [];
  let heldBytes = 0;
  /** Everything that members want is held, after the one row and up to the other. */
  let [from, to] = [0, 0];
  let last = { isEnd: false, asOf: -1 };

  function readOn(): void {
    const asOf = commits.count();
    if (last.isEnd && last.asOf === asOf) return;
    scan ??= reader.scanner([...new Set([...members].flat())]);
    const { events, sizes, scannedTo, isEnd } = scan(to);
    for (const [index, event] of events.entries()) {
      const bytes = sizes[index] ?? 0;
      held.push({ rowNumber: fromPosition(event.position), event, bytes });
      heldBytes += bytes;
    }
    to = scannedTo;
    last = { isEnd, asOf };
    letGo();
  }

  function letGo(): void {
    let count = 0;
    for (const { rowNumber, bytes } of held) {
      if (held.length - count <= heldEventsMax && heldBytes <= heldBytesMax) break;
      heldBytes -= bytes;
      from = rowNumber;
      count += 1;
    }
    if (count > 0) held = held.slice(count);
  }

  function restartAt(rowNumber: number): void {
    [held, heldBytes, from, to] = [[], 0, rowNumber, rowNumber];
    last = { isEnd: false, asOf: -1 };
  }

  /** What has changed who is there is read by another query. */
  function change(how: 'add' | 'delete', prefixes: readonly string[]): void {
    members[how](prefixes);
    scan = undefined;
  }

  return {
    join: (prefixes, rowNumber) => {
      if (members.size === 0) restartAt(rowNumber);
      const own = [...prefixes];
      change('add', own);
      const heldFor = to;
      return {
        since: (after) => {
          if (after < heldFor || after < from) return undefined;
          if (after >= to) readOn();
          // A member that comes from past the last event, which was removed, is at the end of the file, not ahead of it.
          if (last.isEnd && to < after) return undefined;
          const first = held.findLastIndex((each) => each.rowNumber <= after) + 1;
          const events = held.slice(first).flatMap(({ event }) => (isOf(own, event) ? [event] : []));
          return { events, scannedTo: Math.max(to, after), ...last };
        },
        leave: () => change('delete', own),
      };
    },
  };
}

const isOf = (prefixes: readonly string[], { stream }: RecordedEvent): boolean =>
  prefixes.some((prefix) => stream.startsWith(prefix));
