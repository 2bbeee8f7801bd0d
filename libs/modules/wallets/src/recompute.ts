/** Recomputes every balance from the events, to compare it with the balances of an index. Read-only. */
import {
  beginning,
  createFoldedStates,
  type EventStore,
  type Position,
  type RecordedEvent,
} from '@tollgate/event-store';
import { kindOfStream, ledgerPrefixes, type ViewEnvelope, type ViewKind } from '@tollgate/views';
import { createLedgerChanges, type LedgerAmounts, ledgerAccounts, type Standing } from '@tollgate/books';

export interface RecomputedLedger {
  standings: readonly Standing[];
  events: number;
  /** Ids of the events with an entry whose postings do not sum to zero. */
  unbalanced: readonly string[];
}

interface RecomputeOptions {
  store: EventStore;
  /** The last event that counts; default: all events. */
  until?: Position | undefined;
  signal: AbortSignal;
  onProgress?: (events: number) => void;
}

const reportEvery = 100_000;
/** Payments and payouts kept in memory; others are folded again. */
const statesMax = 100_000;

/** A payment, payout or transfer after an event. */
interface Stood {
  view: ViewEnvelope;
  revision: number;
  standings: readonly Standing[];
}

/** @throws StoreUnavailable; the signal's reason */
export async function recomputeLedger({
  store,
  until,
  signal,
  onProgress,
}: RecomputeOptions): Promise<RecomputedLedger> {
  const sums = createLedgerChanges();
  const states = createFoldedStates<Stood>(store, { statesMax });
  const unbalanced: string[] = [];
  let events = 0;
  const ending = new AbortController();
  const either = AbortSignal.any([signal, ending.signal]);
  for await (const item of store.subscribe({ from: beginning, prefixes: ledgerPrefixes, signal: either })) {
    if (item.kind === 'caught-up' || (until !== undefined && item.position > until)) break;
    const kind = kindOfStream(item.stream);
    if (kind === undefined) continue;
    const { before, after } = await states.stepOf(item, foldWith(kind));
    if (after.standings.some(({ amounts }) => sumOf(amounts) !== 0n)) unbalanced.push(item.id);
    sums.replace(before?.standings ?? [], after.standings);
    events += 1;
    if (events % reportEvery === 0) onProgress?.(events);
  }
  ending.abort();
  signal.throwIfAborted();
  return { standings: sums.list(), events, unbalanced };
}

const foldWith =
  (kind: ViewKind) =>
  (before: Stood | undefined, event: RecordedEvent): Stood => {
    const view = kind.fold(before?.view, event);
    return { view, revision: view.revision, standings: kind.standingsOf?.(view) ?? [] };
  };

const sumOf = (amounts: LedgerAmounts): bigint =>
  Object.values(amounts).reduce((sum, amount) => sum + amount, 0n);

export interface LedgerDifference {
  /** Environment, wallet, merchant account, currency and ledger account. */
  name: string;
  recomputed: bigint;
  found: bigint;
}

/** @param found the balances of an index */
export function differencesOf(
  recomputed: readonly Standing[],
  found: readonly Standing[],
): LedgerDifference[] {
  const [right, wrong] = [amountsByName(recomputed), amountsByName(found)];
  return [...new Set([...right.keys(), ...wrong.keys()])]
    .toSorted()
    .map((name) => ({ name, recomputed: right.get(name) ?? 0n, found: wrong.get(name) ?? 0n }))
    .filter((each) => each.recomputed !== each.found);
}

const amountsByName = (standings: readonly Standing[]): Map<string, bigint> =>
  new Map(
    standings.flatMap(({ environment, wallet, account, currency, amounts }) =>
      ledgerAccounts.map((name) => [
        `${environment} ${wallet} ${account} ${currency} ${name}`,
        amounts[name] ?? 0n,
      ]),
    ),
  );
