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
import {
  firstInquiryAt,
  inquiryDelays,
  type DueInquiries,
  type Environment,
  type InquiryDelays,
} from '@tollgate/core';
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
import { disputesOfPayment, listViews } from './index-lists.ts';
import {
  countPayments,
  countReviewsByHour,
  countWaiting,
  dueAtOf,
  eventsAfter,
  findByServiceToken,
  tokenByServiceToken,
  workloadIn,
  type CountQuery,
  type FeedEntry,
} from './index-operators.ts';
import { allBalancesIn, balancesIn, spentIn, listTotals, type TotalsQuery } from './index-ledger.ts';
import { listJournal, monthSumsIn, type JournalQuery, type MonthQuery } from './index-journal.ts';
import { listRefunds, type RefundEntry } from './index-refunds.ts';
import { listReviews, reviewsOfToken, type ReviewQuery } from './index-reviews.ts';
import { searchIndex } from './index-search.ts';
import {
  boundTo,
  type ListName,
  type ListOwner,
  type OfOwners,
  type Listing,
  type OperationView,
} from './list-page.ts';

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
    ...lookupsIn({ read, readWhole }),
    ...listsIn({ readWhole }),
    ...countsIn({ readWhole }),
    ...dueIn({ readWhole }, clock),
    postpone: index.postpone,
    /** A wallet's balance, including everything recorded before the call. @throws as `readLedger` of `@tollgate/views` */
    readLedger: (query: LedgerQuery) =>
      readLedger(
        {
          recent,
          quarantined: () => read((file) => file.quarantined()).map(({ stream }) => stream),
          find: (kind, token) => readWhole((file) => file.find(kind, token)),
          balances: (wallet) => readWhole((file) => balancesIn(file, wallet)),
          spent: (asked) => readWhole((file) => spentIn(file, asked)),
          atOnce: (work) => readWhole((file) => file.atOnce(work)),
        },
        query,
      ),
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

interface Reads {
  read<Answer>(work: (file: IndexFile) => Answer): Answer;
  /** Guards answers that would be wrong while events are missing. */
  readWhole<Answer>(work: (file: IndexFile) => Answer): Answer;
}

/** A single payment is answered even while the index is incomplete. */
function lookupsIn({ read, readWhole }: Reads) {
  const find = <View extends ViewEnvelope>(kind: ViewKind<View>, token: string) =>
    read((file) => file.find(kind, token));
  return {
    /** A payment of this team in this environment. */
    get: (environment: Environment, team: string, token: string) =>
      ownedBy(paymentKind, { environment, team }, find(paymentKind, token)),
    /** As {@link get}, for a payout. */
    getPayout: (environment: Environment, team: string, token: string) =>
      ownedBy(payoutKind, { environment, team }, find(payoutKind, token)),
    /** A payment of any team: for internal use, never for an answer to a caller. */
    find: (token: string) => find(paymentKind, token),
    /** As {@link find}, for a payout. */
    findPayout: (token: string) => find(payoutKind, token),
    /** Our payment under this provider token. */
    findByServiceToken: (environment: Environment, account: string, serviceToken: string) =>
      readWhole((file) => findByServiceToken(file, { environment, account, serviceToken })),
    /** As {@link findByServiceToken}, through any account. */
    findByServiceTokenOfAny: (serviceToken: string) =>
      readWhole((file) => tokenByServiceToken(file, serviceToken)),
    /** The disputes of one payment of any owner, oldest first. */
    disputesOf: (paymentToken: string) => read((file) => disputesOfPayment(file, paymentToken)),
    /** The next scheduled inquiry of a payment, milliseconds since the Unix epoch; undefined: none. */
    nextInquiryAt: (token: string) => read((file) => dueAtOf(file, token)),
    /** The row of one payment, payout or dispute, to compare it with its events. */
    rowOf: find,
    /** The next events of an owner, even while the index is incomplete. */
    eventsAfter: (owner: ListOwner, page: { after: string; limit: number }): readonly FeedEntry[] =>
      read((file) => eventsAfter(file, owner, page)),
    /** Streams with an event that could not be applied: their rows predate it. */
    quarantined: (): readonly string[] => read((file) => file.quarantined()).map(({ stream }) => stream),
  };
}

/** Payments, payouts, refunds and disputes of some owners, in the order of the query. */
function listsIn({ readWhole }: Pick<Reads, 'readWhole'>) {
  const views =
    <View extends ViewEnvelope>(list: ListName, kinds: readonly ViewKind<View>[]) =>
    ({ owners, accepts, ...query }: Listing<View>) =>
      readWhole((file) =>
        listViews<View>(file, { list, kinds, owners, query: boundTo(owners, query), accepts }),
      );
  return {
    listPayments: views('payments', [paymentKind]),
    listPayouts: views('payouts', [payoutKind]),
    /** Payments and payouts together. */
    listOperations: views<OperationView>('operations', [paymentKind, payoutKind]),
    /** By opening time. Those without a known payment have the team ''. */
    listDisputes: views('disputes', [disputeKind]),
    /** By the time of their request. */
    listRefunds: ({ owners, ...query }: Omit<Listing<RefundEntry>, 'accepts'>) =>
      readWhole((file) => listRefunds(file, { owners, query: boundTo(owners, query) })),
    /** An owner with an empty name stands for entries without a team in a shared wallet. */
    listJournal: ({ owners, ...query }: OfOwners<JournalQuery>) =>
      readWhole((file) => listJournal(file, owners, boundTo(owners, query))),
    /** Open reviews: those of production, and then those of the sandbox, each oldest first. */
    listReviews: ({ owners, ...query }: OfOwners<ReviewQuery>) =>
      readWhole((file) => listReviews(file, owners, boundTo(owners, query))),
    /** The open reviews of one payment, payout or operation that only the provider has, of any owner. */
    reviewsOf: (token: string) => readWhole((file) => reviewsOfToken(file, token)),
    /** The disputes, payments and payouts whose token or order number begins with a text. */
    search: (owners: readonly ListOwner[], text: string, limit: number) =>
      readWhole((file) => searchIndex(file, owners, { text, limit })),
  };
}

function countsIn({ readWhole }: Pick<Reads, 'readWhole'>) {
  return {
    /** The changes of each month in the ledger, up to and including one month. */
    monthSums: (query: MonthQuery) => readWhole((file) => monthSumsIn(file, query)),
    /** The money of every wallet in each merchant account. */
    listBalances: () => readWhole(allBalancesIn),
    /** A team's income, refunds and payouts, by day and then by currency; empty days are omitted. */
    listTotals: (query: TotalsQuery) => readWhole((file) => listTotals(file, query)),
    /** Payments of an owner by the time of their creation, phase and group. */
    countPayments: (owner: ListOwner, query: CountQuery) =>
      readWhole((file) => countPayments(file, owner, query)),
    /** Open reviews of these owners, by the hour in which they were opened, milliseconds since the Unix epoch. */
    countReviewsByHour: (owners: readonly ListOwner[]) =>
      readWhole((file) => countReviewsByHour(file, owners)),
    /** Counts what of these owners waits for an outcome or for a person. */
    countWaiting: (owners: readonly ListOwner[]) => readWhole((file) => countWaiting(file, owners)),
    /** The open work and the open reviews of all teams, counted. */
    workload: () => readWhole(workloadIn),
  };
}

/** A row of an incomplete index may appear due and be long settled. */
const dueIn = (
  { readWhole }: Pick<Reads, 'readWhole'>,
  clock: Pick<Clock, 'now'>,
): Pick<DueInquiries, 'dueQueues' | 'dueItems'> => ({
  dueQueues: (shards) => readWhole((file) => dueQueuesOf(file, { shards, now: clock.now() })),
  dueItems: (queue, page) => readWhole((file) => dueItemsIn(file, queue, { ...page, now: clock.now() })),
});

const buildingOf = ({ isComplete, position, head, events }: ProjectionState): IndexBuilding | undefined =>
  isComplete ? undefined : { followed: position, head, events };

function ownedBy<View extends ViewEnvelope>(
  kind: ViewKind<View>,
  { environment, team }: ListOwner,
  view: View | undefined,
): View | undefined {
  const owner = view && kind.ownerOf(view);
  return owner?.environment === environment && owner.team === team ? view : undefined;
}
