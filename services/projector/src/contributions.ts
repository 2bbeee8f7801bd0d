/** What payments and payouts add to the totals, event by event; the states of the last used ones are in memory. */
import type { RecordedEvent } from '@tollgate/event-store';
import {
  contributionOf,
  type Contribution,
  type PaymentView,
  type PayoutView,
  type TotalsChange,
} from '@tollgate/views';
import { failureAt, requireKind } from './view-writer.ts';
import { foldByKind, type Failure, type Fold, type ProjectionOptions } from './projection.ts';
import { createRecentlyUsed } from './recently-used.ts';

export interface Followed {
  changes: TotalsChange[];
  /** Of the first event that cannot be applied. */
  failure: Failure | undefined;
}

type Counted = PaymentView | PayoutView;

export interface Contributions {
  /** What events of one stream, in order, change in the totals. @throws StoreUnavailable */
  follow(stream: string, events: readonly RecordedEvent[]): Promise<Followed>;
  forget(): void;
}

export function createContributions({
  store,
  cachedViewsMax,
  fold = foldByKind,
}: Pick<ProjectionOptions, 'store' | 'cachedViewsMax' | 'fold'>): Contributions {
  const recent = createRecentlyUsed<Counted>(cachedViewsMax);

  /** The events from the one after the state that is remembered, and that state. */
  async function continuing(stream: string, events: readonly RecordedEvent[]) {
    const from = events[0]?.revision ?? 0;
    const known = recent.get(stream);
    if (from === 0 || known?.revision === from - 1) return { known: from === 0 ? undefined : known, events };
    const earlier = await Array.fromAsync(store.read(stream, { limit: from }));
    return { known: undefined, events: [...earlier, ...events] };
  }

  async function follow(stream: string, given: readonly RecordedEvent[]): Promise<Followed> {
    const { known, events } = await continuing(stream, given);
    const { view, changes, failure } = foldChanges({ stream, known, events, fold });
    if (view !== undefined) recent.set(stream, view);
    // Those of events that were only read to know the state are in the totals already.
    const from = given[0]?.revision ?? 0;
    return { changes: changes.filter(({ last }) => last.revision >= from), failure };
  }

  return { follow, forget: recent.clear };
}

/** Folding is pure, so whatever it throws lies in the event or in the code, and comes again with every try. */
function foldChanges({
  stream,
  known,
  events,
  fold,
}: {
  stream: string;
  known: Counted | undefined;
  events: readonly RecordedEvent[];
  fold: Fold;
}): Followed & { view: Counted | undefined } {
  const kind = requireKind(stream);
  const changes: TotalsChange[] = [];
  let view = known;
  let counted = known === undefined ? [] : contributionOf(known).lines;
  for (const event of events) {
    try {
      view = fold(kind, view, event) as Counted;
    } catch (error) {
      return { view, changes, failure: failureAt(stream, event.revision, error) };
    }
    const { key, lines } = contributionOf(view);
    if (isSame(lines, counted)) continue;
    const { revision, position } = event;
    changes.push({ key, last: { stream, revision, position }, before: counted, after: lines });
    counted = lines;
  }
  return { view, changes, failure: undefined };
}

type Lines = Contribution['lines'];

const isSame = (some: Lines, others: Lines): boolean =>
  some.length === others.length &&
  some.every((line, index) => {
    const other = others[index];
    return line.group === other?.group && line.name === other.name && line.amount === other.amount;
  });
