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
  type Standing,
} from '@tollgate/core';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import {
  paymentKind,
  payoutKind,
  type DayTotals,
  type JournalRow,
  disputeKind,
  type DisputeView,
  type PaymentView,
  type PayoutView,
  type ViewEnvelope,
  type ViewKind,
  ledgerPrefixes,
  readLedger,
  type LedgerNow,
  type LedgerQuery,
} from '@tollgate/views';
import { followFilled } from './filled-index.ts';
import { openFollowedIndex } from './followed-index.ts';
import type { IndexFile } from './index-file.ts';
import { dueIn, dueQueuesOf } from './index-inquiries.ts';
import { disputesOfPayment, listViews, type ListOfAll } from './index-lists.ts';
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
  type PhaseCount,
  type Waiting,
  type Workload,
} from './index-operators.ts';
import { allBalancesIn, balancesIn, spentIn } from './index-ledger.ts';
import {
  listJournal,
  monthSumsIn,
  type JournalQuery,
  type MonthQuery,
  type MonthSum,
} from './index-journal.ts';
import { listRefunds, type RefundEntry } from './index-refunds.ts';
import { listReviews, reviewsOfToken, type ReviewEntry, type ReviewQuery } from './index-reviews.ts';
import type { IndexScope } from './index-schema.ts';
import { searchIndex, type Match } from './index-search.ts';
import { listTotals, type TotalsQuery } from './index-totals.ts';
import { everybody, type ListName, type ListOwner } from './list-page.ts';
import type {
  ListQuery,
  OperationList,
  OperationListQuery,
  OperationView,
  PaymentList,
  PaymentListQuery,
  PayoutList,
  ViewList,
} from './view-list.ts';

interface ReviewsOfAllQuery extends Pick<ReviewQuery, 'perPage' | 'limit' | 'cursor'> {
  owners: readonly ListOwner[];
}

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
export interface PaymentIndex extends DueInquiries {
  /**
   * Opens the file and follows the events; resolves when every current view is in it.
   *
   * @throws StartupError if the file cannot be used
   */
  start(): Promise<void>;
  /** Stops and closes the file. */
  stop(): Promise<void>;
  /** A payment of this team in this environment. */
  get(environment: Environment, team: string, token: string): PaymentView | undefined;
  /** A payment of any team: for internal use, never for an answer to a caller. */
  find(token: string): PaymentView | undefined;
  /** As {@link find}, for a payout. */
  findPayout(token: string): PayoutView | undefined;
  /** Our payment under this provider token. */
  findByServiceToken(
    environment: Environment,
    account: string,
    serviceToken: string,
  ): { token: string; team: string } | undefined;
  /** As {@link findByServiceToken}, through any account. */
  findByServiceTokenOfAny(serviceToken: string): string | undefined;
  list(query: PaymentListQuery): PaymentList;
  /** A payout of this team in this environment. */
  getPayout(environment: Environment, team: string, token: string): PayoutView | undefined;
  listPayouts(query: OperationListQuery): PayoutList;
  /** Payments and payouts together. */
  listOperations(query: OperationListQuery): OperationList;
  /** Payments of several owners, in the order of the query; `accepts` filters by conditions without an index. */
  listPaymentsOfAll(query: ListOfAll<PaymentView>): PaymentList;
  /** As {@link listPaymentsOfAll}. */
  listPayoutsOfAll(query: ListOfAll<PayoutView>): PayoutList;
  /** Refunds, by the time of their request. */
  listRefunds(query: ListQuery): ViewList<RefundEntry>;
  /** As {@link listPaymentsOfAll}. */
  listRefundsOfAll(query: ListOfAll<RefundEntry>): ViewList<RefundEntry>;
  listJournal(query: JournalQuery): ViewList<JournalRow>;
  /** For several teams; an empty name stands for entries without a team in a shared wallet. */
  listJournalOfAll(
    query: Omit<JournalQuery, keyof ListOwner> & { owners: readonly ListOwner[] },
  ): ViewList<JournalRow>;
  /** The changes of each month in the ledger, up to and including one month. */
  monthSums(query: MonthQuery): MonthSum[];
  /** The money of every wallet in each merchant account. */
  listBalances(): Standing[];
  /** Payments of an owner by the time of their creation, phase and group. */
  countPayments(owner: ListOwner, query: CountQuery): PhaseCount[];
  /** Payments, payouts and disputes of these owners whose token or order number begins with a text. */
  search(owners: readonly ListOwner[], text: string, limit: number): Match[];
  /** Open reviews of these owners, by the hour in which they were opened, milliseconds since the Unix epoch. */
  countReviewsByHour(owners: readonly ListOwner[]): ReadonlyMap<number, number>;
  /** Counts what of these owners waits for an outcome or for a person. */
  countWaiting(owners: readonly ListOwner[]): Waiting;
  /** The next scheduled inquiry of a payment, milliseconds since the Unix epoch; undefined: none. */
  nextInquiryAt(token: string): number | undefined;
  /** The disputes of one payment of any owner, oldest first. */
  disputesOf(paymentToken: string): DisputeView[];
  /** Disputes, by opening time. Those without a known payment have the team ''. */
  listDisputes(query: ListQuery): ViewList<DisputeView>;
  /** As {@link listPaymentsOfAll}. */
  listDisputesOfAll(query: ListOfAll<DisputeView>): ViewList<DisputeView>;
  listReviews(query: ReviewQuery): ViewList<ReviewEntry>;
  /** The open reviews of several owners: those of production, and then those of the sandbox, each oldest first. */
  listReviewsOfAll(query: ReviewsOfAllQuery): ViewList<ReviewEntry>;
  /** The open reviews of one payment, payout or operation that only the provider has, of any owner. */
  reviewsOf(token: string): ReviewEntry[];
  /** A team's income, refunds and payouts, by day and then by currency; empty days are omitted. */
  listTotals(query: TotalsQuery): DayTotals[];
  /** A wallet's balance, including everything recorded before the call. @throws as `readLedger` of `@tollgate/views` */
  readLedger(query: LedgerQuery): Promise<LedgerNow>;
  /** The next events of an owner, even while the index is incomplete. */
  eventsAfter(owner: ListOwner, page: { after: string; limit: number }): readonly FeedEntry[];
  /** The open work and the open reviews of all teams, counted. */
  workload(): Workload;
  /** The progress of the index until every event is in it; undefined from then on. */
  building(): IndexBuilding | undefined;
  /** The row of one payment, payout or dispute, to compare it with its events. */
  rowOf(kind: ViewKind, token: string): ViewEnvelope | undefined;
  /** Every event at or before this position is in the index, except those of quarantined streams. */
  position(): Position;
  /** Streams with an event that could not be applied: their rows predate it. */
  quarantined(): readonly string[];
  /** False after a failure of the store, until its end is reached again. */
  isCaughtUp(): boolean;
  /** Comparisons with the projector in which the numbers of events differed. */
  differences(): number;
  /** True as soon as `position()` has reached `position`, false after `timeoutMs` or when the index stops. */
  waitFor(position: Position, timeoutMs: number): Promise<boolean>;
}

export interface PaymentIndexOptions {
  /** Path of the SQLite file, or `:memory:`. */
  file: string;
  store: EventStore;
  log: Log;
  clock: Clock;
  ids: Ids;
  /** Due times of payments and payouts. @default `inquiryDelays` */
  delays?: InquiryDelays;
  /** Its purpose; `work` has no lists except those by age. @default lists */
  scope?: IndexScope;
  /** To the thread of this process that fills the file (`fillIndex`); absent: this one does. */
  filler?: MessagePort;
}

/** A decision folds so many events at most that the index lacks; one that lags further is waited for. */
const recentMax = 1_000;
/** How long, milliseconds. */
const lagWaitMs = 2_000;

/** @throws StartupError `file_foreign` for a file of another program */
export function createPaymentIndex(options: PaymentIndexOptions): PaymentIndex {
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
    start: async () => {
      following = index.follow(stopping.signal).finally(() => completed.resolve(undefined));
      await completed.promise;
    },
    stop: async () => {
      stopping.abort();
      await following;
      index.close();
    },
    ...lookupsIn({ read, readWhole }),
    ...listsIn({ readWhole }),
    // A row of an incomplete index may appear due and be long settled.
    dueQueues: (shards) => readWhole((file) => dueQueuesOf(file, { shards, now: clock.now() })),
    dueItems: (queue, page) => readWhole((file) => dueIn(file, queue, { ...page, now: clock.now() })),
    postpone: (postponed) => index.postpone(postponed),
    readLedger: (query) =>
      readLedger(
        {
          recent,
          quarantined: () => read((file) => file.quarantined()),
          find: (kind, token) => readWhole((file) => file.find(kind, token)),
          balances: (wallet) => readWhole((file) => balancesIn(file, wallet)),
          spent: (asked) => readWhole((file) => spentIn(file, asked)),
          atOnce: (work) => readWhole((file) => file.atOnce(work)),
        },
        query,
      ),
    building: () => buildingOf(index.state()),
    position,
    isCaughtUp: () => index.state().isCaughtUp,
    differences: () => index.state().differences,
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
    get: (...owned) => ownedBy(paymentKind, owned, find),
    find: (token) => find(paymentKind, token),
    findPayout: (token) => find(payoutKind, token),
    findByServiceToken: (environment, account, serviceToken) =>
      readWhole((file) => findByServiceToken(file, { environment, account, serviceToken })),
    findByServiceTokenOfAny: (serviceToken) => readWhole((file) => tokenByServiceToken(file, serviceToken)),
    getPayout: (...owned) => ownedBy(payoutKind, owned, find),
    disputesOf: (token) => read((file) => disputesOfPayment(file, token)),
    nextInquiryAt: (token) => read((file) => dueAtOf(file, token)),
    rowOf: find,
    eventsAfter: (owner, page) => read((file) => eventsAfter(file, owner, page)),
    quarantined: () => read((file) => file.quarantined()),
  } satisfies Partial<PaymentIndex>;
}

const allKinds = ['payment', 'payout', 'unmatched'] as const;

function listsIn({ readWhole }: Pick<Reads, 'readWhole'>) {
  const ofTeam = <View extends ViewEnvelope>(
    list: ListName,
    kinds: readonly ViewKind<View>[],
    query: ListQuery,
  ) => readWhole((file) => listViews<View>(file, { list, kinds, owners: [query], query }));
  const ofAll = <View extends ViewEnvelope>(
    list: ListName,
    kind: ViewKind<View>,
    { owners, accepts, ...query }: ListOfAll<View>,
  ) =>
    readWhole((file) =>
      listViews<View>(file, { list, kinds: [kind], owners, query: { ...query, ...everybody }, accepts }),
    );
  return {
    list: (query) => ofTeam('payments', [paymentKind], query),
    listPayouts: (query) => ofTeam('payouts', [payoutKind], query),
    listOperations: (query) => ofTeam<OperationView>('operations', [paymentKind, payoutKind], query),
    listPaymentsOfAll: (query) => ofAll('payments', paymentKind, query),
    listPayoutsOfAll: (query) => ofAll('payouts', payoutKind, query),
    listRefunds: (query) => readWhole((file) => listRefunds(file, { owners: [query], query })),
    listRefundsOfAll: ({ owners, ...query }) =>
      readWhole((file) => listRefunds(file, { owners, query: { ...query, ...everybody } })),
    listJournal: (query) => readWhole((file) => listJournal(file, [query], query)),
    listJournalOfAll: ({ owners, ...query }) =>
      readWhole((file) => listJournal(file, owners, { ...query, ...everybody })),
    monthSums: (query) => readWhole((file) => monthSumsIn(file, query)),
    listBalances: () => readWhole(allBalancesIn),
    countPayments: (owner, query) => readWhole((file) => countPayments(file, owner, query)),
    search: (owners, text, limit) => readWhole((file) => searchIndex(file, owners, { text, limit })),
    countReviewsByHour: (owners) => readWhole((file) => countReviewsByHour(file, owners)),
    countWaiting: (owners) => readWhole((file) => countWaiting(file, owners)),
    listReviewsOfAll: ({ owners, ...page }) =>
      readWhole((file) => listReviews(file, owners, { ...everybody, kinds: allKinds, ...page })),
    reviewsOf: (token) => readWhole((file) => reviewsOfToken(file, token)),
    listDisputes: (query) => ofTeam('disputes', [disputeKind], query),
    listDisputesOfAll: (query) => ofAll('disputes', disputeKind, query),
    listReviews: (query) => readWhole((file) => listReviews(file, [query], query)),
    listTotals: (query) => readWhole((file) => listTotals(file, query)),
    workload: () => readWhole(workloadIn),
  } satisfies Partial<PaymentIndex>;
}

const buildingOf = ({ isComplete, position, head, events }: ProjectionState): IndexBuilding | undefined =>
  isComplete ? undefined : { followed: position, head, events };

function ownedBy<View extends ViewEnvelope>(
  kind: ViewKind<View>,
  [environment, team, token]: [Environment, string, string],
  find: (kind: ViewKind<View>, token: string) => View | undefined,
): View | undefined {
  const view = find(kind, token);
  if (view === undefined) return undefined;
  const owner = kind.ownerOf(view);
  return owner.environment === environment && owner.team === team ? view : undefined;
}
