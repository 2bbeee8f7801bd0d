/**
 * The local index of payments, payouts and disputes: a SQLite file that folds their events into views and answers lookups and
 * lists. It is a cache: it may be deleted at any time and is rebuilt.
 */
import type { MessagePort } from 'node:worker_threads';
import {
  eventsUntilNow,
  projectionRebuilding,
  type EventStore,
  type Position,
  type ProjectionState,
  type RecordedEvent,
} from '@tollgate/event-store';
import { firstInquiryAt, inquiryDelays, type DueInquiries, type InquiryDelays } from '@tollgate/core';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import {
  paymentKind,
  payoutKind,
  disputeKind,
  type ViewEnvelope,
  type ViewKind,
  ledgerPrefixes,
  readLedger,
  type LedgerQuery,
} from '@tollgate/views';
import { followFilled } from './filled-index.ts';
import { openFollowedIndex } from './followed-index.ts';
import type { IndexFile } from './index-file.ts';
import { dueItemsIn, dueQueuesOf } from './index-inquiries.ts';
import { disputesOfPayment, listOf } from './index-lists.ts';
import {
  countPayments,
  countReviewsByHour,
  countWaiting,
  dueAtOf,
  eventsAfter,
  findByServiceToken,
  tokenByServiceToken,
  workloadIn,
} from './index-operators.ts';
import { allBalancesIn, ledgerSourceOf, listTotals } from './index-ledger.ts';
import { listJournal, monthSumsIn } from './index-journal.ts';
import { listRefunds } from './index-refunds.ts';
import { listReviews } from './index-reviews.ts';
import { searchIndex } from './index-search.ts';
import type { OperationView } from './list-page.ts';

/** The progress of an incomplete index. */
export interface IndexBuilding {
  /** Position of the last applied event. */
  followed: Position;
  /** End of the store when the rebuild began. */
  head: Position;
  /** Events applied since the rebuild began. */
  events: number;
}

/**
 * Reads throw TollgateError `index_rebuilding`, which is retryable, if the file turns out to be damaged, and lists
 * until it is complete again.
 */
export type PaymentIndex = ReturnType<typeof createPaymentIndex>;

export interface PaymentIndexOptions {
  /** Path of the SQLite file, or `:memory:`. */
  file: string;
  store: EventStore;
  log: Log;
  clock: Clock;
  ids: Ids;
  /** Due times of payments and payouts. @default `inquiryDelays` */
  delays?: InquiryDelays;
  /** To the thread of this process that fills the file (`fillIndex`); absent: this one does. */
  filler?: MessagePort;
}

/** Maximum events missing in the index that a decision folds itself. If the index lags further, the decision waits for it. */
const recentMax = 1_000;
/** How long, milliseconds. */
const lagWaitMs = 2_000;

/** @throws StartupError `file_foreign` for a file of another program */
export function createPaymentIndex(options: PaymentIndexOptions) {
  const { store, clock, delays = inquiryDelays, filler } = options;
  const stopping = new AbortController();
  const completed = Promise.withResolvers<undefined>();
  const onChange = () => {
    if (index.state().isComplete) completed.resolve(undefined);
  };
  const index =
    filler === undefined
      ? openFollowedIndex({
          ...options,
          onChange,
          dueAt: (item) => firstInquiryAt(item, clock.now(), delays),
        })
      : followFilled({ ...options, filler, onChange });
  let following: Promise<void> | undefined;

  const read = index.use;
  const readWhole = <Answer>(work: (file: IndexFile) => Answer): Answer => {
    if (!index.state().isComplete) throw projectionRebuilding();
    return read(work);
  };
  const position = () => index.state().position;
  async function recent(): Promise<readonly RecordedEvent[]> {
    if (!index.state().isComplete) throw projectionRebuilding();
    const events: RecordedEvent[] = [];
    for await (const event of eventsUntilNow(store, { from: position(), prefixes: ledgerPrefixes })) {
      events.push(event);
      if (events.length <= recentMax) continue;
      if (await index.waitFor(await store.head(), lagWaitMs)) return [];
      throw projectionRebuilding();
    }
    return events;
  }

  return {
    /**
     * Opens the file and follows the events; resolves when every current view is in it.
     *
     * @throws StartupError if the file cannot be used
     */
    start: async () => {
      following = index.follow(stopping.signal).finally(() => completed.resolve(undefined));
      await completed.promise;
    },
    /** Stops and closes the file. */
    stop: async () => {
      stopping.abort();
      await following;
      index.close();
    },
    ...lookupsWith(read),
    ...bound(readWhole, wholeReads),
    ...dueIn(readWhole, clock),
    postpone: index.postpone,
    /** A wallet's balance, including everything recorded before the call. @throws as `readLedger` of `@tollgate/views` */
    readLedger: (query: LedgerQuery) => readLedger(ledgerSourceOf(readWhole, recent), query),
    /** The progress of the index until every event is in it; undefined from then on. */
    building: () => buildingOf(index.state()),
    /** Every event at or before this position is in the index, except those of quarantined streams. */
    position,
    /** False after a failure of the store, until its end is reached again. */
    isCaughtUp: () => index.state().isCaughtUp,
    /** Comparisons with the projector in which the numbers of events differed. */
    differences: () => index.state().differences,
    /** True as soon as `position()` has reached `position`, false after `timeoutMs` or when the index stops. */
    waitFor: index.waitFor,
  };
}

type Use = <Answer>(work: (file: IndexFile) => Answer) => Answer;

/** A read without its first parameter, the file. */
type Bound<Read> = Read extends (file: IndexFile, ...asked: infer Asked) => infer Answer
  ? (...asked: Asked) => Answer
  : never;

const bound = <Reads extends Record<string, (file: IndexFile, ...asked: never[]) => unknown>>(
  use: Use,
  reads: Reads,
) =>
  Object.fromEntries(
    Object.entries(reads).map(([name, read]) => [
      name,
      (...asked: never[]) => use((file) => read(file, ...asked)),
    ]),
  ) as { [Name in keyof Reads]: Bound<Reads[Name]> };

/** Answers that would be wrong while events are missing: refused until the index is complete. */
const wholeReads = {
  listPayments: listOf('payments', [paymentKind]),
  listPayouts: listOf('payouts', [payoutKind]),
  listOperations: listOf<OperationView>('operations', [paymentKind, payoutKind]),
  /** By opening time. Those without a known payment have the team ''. */
  listDisputes: listOf('disputes', [disputeKind]),
  /** By the time of their request. */
  listRefunds,
  listJournal,
  listReviews,
  search: searchIndex,
  findByServiceToken,
  findByServiceTokenOfAny: tokenByServiceToken,
  monthSums: monthSumsIn,
  listBalances: allBalancesIn,
  listTotals,
  countPayments,
  countReviewsByHour,
  countWaiting,
  workload: workloadIn,
};

/** One payment is answered even while the index is incomplete. */
const lookupsWith = (read: Use) => {
  const find = <View extends ViewEnvelope>(kind: ViewKind<View>, token: string) =>
    read((file) => file.find(kind, token));
  return {
    /** A payment of any team: for internal use, never for an answer to a caller. */
    find: (token: string) => find(paymentKind, token),
    /** As {@link find}, for a payout. */
    findPayout: (token: string) => find(payoutKind, token),
    /** The row of one payment, payout or dispute, to compare it with its events. */
    rowOf: find,
    /** Streams with an event that could not be applied: their rows predate it. */
    quarantined: (): readonly string[] => read((file) => file.quarantined()).map(({ stream }) => stream),
    ...bound(read, { disputesOf: disputesOfPayment, nextInquiryAt: dueAtOf, eventsAfter }),
  };
};

/** A row of an incomplete index may appear due and be long settled. */
const dueIn = (readWhole: Use, clock: Pick<Clock, 'now'>): Pick<DueInquiries, 'dueQueues' | 'dueItems'> => ({
  dueQueues: (shards) => readWhole((file) => dueQueuesOf(file, { shards, now: clock.now() })),
  dueItems: (queue, page) => readWhole((file) => dueItemsIn(file, queue, { ...page, now: clock.now() })),
});

const buildingOf = ({ isComplete, position, head, events }: ProjectionState): IndexBuilding | undefined =>
  isComplete ? undefined : { followed: position, head, events };
