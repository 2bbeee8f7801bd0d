/**
 * The local index of views: a SQLite file that follows the views of payments, payouts and disputes in the event
 * store and answers lookups and lists. It is a cache: it may be deleted at any time and is rebuilt.
 */
import type { MessagePort } from 'node:worker_threads';
import type { EventStore, Position } from '@tollgate/event-store';
import {
  firstInquiryAt,
  inquiryDelays,
  type DueInquiries,
  type Environment,
  type InquiryDelays,
} from '@tollgate/payment-domain';
import { InvariantViolation, type Clock, type Log } from '@tollgate/service-kit';
import type {
  DisputeView,
  ViewEnvelope,
  ViewKind,
  PaymentView,
  PayoutView,
  DayTotals,
} from '@tollgate/views';

import { paymentKind, payoutKind } from '@tollgate/views';
import type {
  OperationView,
  OperationList,
  OperationListQuery,
  PaymentList,
  PaymentListQuery,
  PayoutList,
} from './view-list.ts';
import {
  listReviews,
  listReviewsOfAll,
  reviewsOfToken,
  type OwnedReviewEntry,
  type ReviewList,
  type ReviewListOfAll,
  type ReviewQuery,
  type ReviewsOfAllQuery,
} from './index-reviews.ts';
import { indexRebuilding, type IndexFile } from './index-file.ts';
import { createIndexFollower, type IndexBuilding, type IndexFollower } from './index-follower.ts';
import { dueIn, dueQueuesOf, type DueAt } from './index-inquiries.ts';
import type { IndexScope } from './index-schema.ts';
import { followFilled } from './filled-index.ts';
import { type ListOfAll, disputesOfPayment, listDisputes, listViews, listViewsOfAll } from './index-lists.ts';
import {
  type Beginning,
  type CreatedBetween,
  type DeclineCounts,
  type HourCount,
  type Waiting,
  countByHour,
  countDeclines,
  countWaiting,
  dueAtOf,
  findBeginning,
  tokenByServiceToken,
} from './index-operators.ts';
import {
  readCurrentPositions,
  type CurrentPositionQuery,
  type CurrentPositions,
  type PositionSource,
} from './current-positions.ts';
import { positionsIn } from './index-positions.ts';
import { listTotals, type TotalsQuery } from './index-totals.ts';
import { workloadIn, type Workload } from './index-workload.ts';
import type { ListOwner } from './list-page.ts';
import { isDamage } from './open-index-file.ts';

import { createPositionWatch } from './position-watch.ts';

export type { IndexBuilding };

/**
 * Reads throw TollgateError `index_rebuilding`, which is retryable, if the file turns out to be damaged, and lists
 * until it is complete again.
 */
export interface PaymentIndex extends DueInquiries {
  /**
   * Opens the file and follows the views; resolves when every current view is in it.
   *
   * @throws StartupError if the file cannot be used.
   */
  start(): Promise<void>;
  /** Ends the following and closes the file. */
  stop(): Promise<void>;
  /** A payment of this team in this environment. */
  get(environment: Environment, team: string, token: string): PaymentView | undefined;
  /** A payment of whatever team: for our own use, never for an answer to a caller. */
  find(token: string): PaymentView | undefined;
  /** As {@link find}, of a payout. */
  findPayout(token: string): PayoutView | undefined;
  /** Whose payment the service knows under this token of its own. */
  findByServiceToken(
    environment: Environment,
    account: string,
    serviceToken: string,
  ): { token: string; team: string } | undefined;
  /** As {@link findByServiceToken}, through whatever account. */
  findByServiceTokenOfAny(serviceToken: string): string | undefined;
  list(query: PaymentListQuery): PaymentList;
  /** A payout of this team in this environment. */
  getPayout(environment: Environment, team: string, token: string): PayoutView | undefined;
  listPayouts(query: OperationListQuery): PayoutList;
  /** Payments and payouts together. */
  listOperations(query: OperationListQuery): OperationList;
  /** Payments of several owners, in the order of the query; `accepts` filters by what no index knows. */
  listPaymentsOfAll(query: ListOfAll<PaymentView>): PaymentList;
  /** As {@link listPaymentsOfAll}. */
  listPayoutsOfAll(query: ListOfAll<PayoutView>): PayoutList;
  /** How many payments of these owners were created in each hour, by phase. @param from milliseconds since the Unix epoch */
  countPaymentsByHour(owners: readonly ListOwner[], from: number): HourCount[];
  /** Payments of these owners whose token or order number begins with a text. */
  findBeginning(owners: readonly ListOwner[], text: string, limit: number): Beginning[];
  /** Why payments of these owners were declined, by reason; the newest of those created since `from` and before `before`. */
  countDeclines(owners: readonly ListOwner[], created: CreatedBetween): DeclineCounts;
  /** What of these owners waits for an outcome or for a person. */
  countWaiting(owners: readonly ListOwner[]): Waiting;
  /** When a payment is inquired next, milliseconds since the Unix epoch; undefined: not by the schedule. */
  nextInquiryAt(token: string): number | undefined;
  /** The disputes of one payment of any owner, oldest first. */
  disputesOf(paymentToken: string): DisputeView[];
  /** The disputes of a team that were opened last, newest first. */
  listDisputes(owner: ListOwner, limit: number): DisputeView[];
  /** The open reviews of a team, oldest first. */
  listReviews(query: ReviewQuery): ReviewList;
  /** The open reviews of several owners: those of production, and then those of the sandbox, each oldest first. */
  listReviewsOfAll(query: ReviewsOfAllQuery): ReviewListOfAll;
  /** The open reviews of one payment, payout or what only the provider has, of any owner. */
  reviewsOf(token: string): OwnedReviewEntry[];
  /** What a team took, gave back and paid out, by day and then by currency; days without anything are left out. */
  listTotals(query: TotalsQuery): DayTotals[];
  /**
   * What the teams have together, with everything that was recorded before the call.
   *
   * @throws TollgateError `index_rebuilding` also where the index is too far behind the store; `position_unreadable`,
   * retryable, where a stream that may be theirs cannot be read; StoreUnavailable
   */
  currentPositions(query: CurrentPositionQuery): Promise<CurrentPositions>;
  /** The open work and the open reviews of all teams, counted. */
  workload(): Workload;
  /** The progress of the index until every view is in it; undefined from then on. */
  building(): IndexBuilding | undefined;
  /** Every event at or before this position is in its view in the index. */
  position(): Position;
  /**
   * True as soon as `position()` has reached `position`, false after `timeoutMs` or when the index stops.
   *
   * @param team the waiting caller's; each team has a limit of waiting calls
   */
  waitFor(position: Position, timeoutMs: number, team: string): Promise<boolean>;
  /** As `waitFor` for a caller that did not ask for it: up to 0.3 seconds, and not while it would be in vain. */
  waitBriefly(position: Position, team: string): Promise<boolean>;
}

export interface PaymentIndexOptions {
  /** Path of the SQLite file, or `:memory:`. */
  file: string;
  store: EventStore;
  log: Log;
  clock: Clock;
  /** When payments and payouts are inquired; absent: by `inquiryDelays`. */
  delays?: InquiryDelays;
  /** What it is read for: `lists` unless given. That of `work` has no lists but those by age. */
  scope?: IndexScope;
  /** To another thread of this process, which fills the file (`fillIndex`); absent: this one does. */
  filler?: MessagePort;
}

export function createPaymentIndex({
  file: path,
  store,
  log,
  clock,
  delays = inquiryDelays,
  scope = 'lists',
  filler,
}: PaymentIndexOptions): PaymentIndex {
  const stopping = new AbortController();
  const watch = createPositionWatch(clock);
  const dueAt: DueAt = (item) => firstInquiryAt(item, clock.now(), delays);
  const follower =
    filler === undefined
      ? createIndexFollower({ path, store, log, clock, watch, dueAt, scope })
      : followFilled({ path, filler, watch, log });
  let following: Promise<void> | undefined;

  const isFollowing = () => following !== undefined;
  const isStopped = () => stopping.signal.aborted;
  const { read, readWhole } = createReads(follower, { isFollowing, isStopped });
  const find = <View extends ViewEnvelope>(kind: ViewKind<View>, token: string) =>
    read((file) => file.find(kind, token));

  return {
    start: async () => {
      follower.open();
      const caughtUp = Promise.withResolvers<undefined>();
      const onCaughtUp = () => caughtUp.resolve(undefined);
      following = follower.follow(stopping.signal, onCaughtUp).finally(onCaughtUp);
      await caughtUp.promise;
    },
    stop: async () => {
      stopping.abort();
      watch.end();
      await following;
      follower.close();
    },
    get: (...owned) => ownedBy(paymentKind, owned, find),
    find: (token) => find(paymentKind, token),
    findPayout: (token) => find(payoutKind, token),
    findByServiceToken: (environment, account, serviceToken) =>
      readWhole((file) => file.findByServiceToken({ environment, account, serviceToken })),
    findByServiceTokenOfAny: (serviceToken) => readWhole((file) => tokenByServiceToken(file, serviceToken)),
    list: (query) => readWhole((file) => listViews(file, { list: 'payments', kinds: [paymentKind], query })),
    ...dueInquiriesIn(follower, { readWhole, clock }),
    getPayout: (...owned) => ownedBy(payoutKind, owned, find),
    listPayouts: (query) =>
      readWhole((file) => listViews(file, { list: 'payouts', kinds: [payoutKind], query })),
    listOperations: (query) =>
      readWhole((file) =>
        listViews<OperationView>(file, {
          list: 'operations',
          kinds: [paymentKind, payoutKind],
          query,
        }),
      ),
    listPaymentsOfAll: (query) => readWhole((file) => listViewsOfAll(file, paymentKind, query)),
    listPayoutsOfAll: (query) => readWhole((file) => listViewsOfAll(file, payoutKind, query)),
    ...readsOfOperators({ read, readWhole }),
    listDisputes: (owner, limit) => readWhole((file) => listDisputes(file, owner, limit)),
    listReviews: (query) => readWhole((file) => listReviews(file, query)),
    listTotals: (query) => readWhole((file) => listTotals(file, query)),
    currentPositions: (query) =>
      readCurrentPositions({ store, ...positionsFrom(readWhole, follower), position: watch.current }, query),
    workload: () => readWhole(workloadIn),
    building: () => follower.building(),
    position: () => watch.current(),
    waitFor: watch.waitFor,
    waitBriefly: watch.waitBriefly,
  };
}

const dueInquiriesIn = (
  follower: IndexFollower,
  { readWhole, clock }: Pick<Reads, 'readWhole'> & { clock: Clock },
): DueInquiries => ({
  // Of an index that is not whole, what is read as due may be long settled.
  dueQueues: (shards) => readWhole((file) => dueQueuesOf(file, { shards, now: clock.now() })),
  dueItems: (queue, page) => readWhole((file) => dueIn(file, queue, { ...page, now: clock.now() })),
  postpone: (postponed) => follower.postpone(postponed),
});

/** Of all teams. */
const readsOfOperators = ({
  read,
  readWhole,
}: Reads): Pick<
  PaymentIndex,
  | 'countPaymentsByHour'
  | 'countDeclines'
  | 'countWaiting'
  | 'disputesOf'
  | 'findBeginning'
  | 'listReviewsOfAll'
  | 'nextInquiryAt'
  | 'reviewsOf'
> => ({
  countPaymentsByHour: (owners, from) => readWhole((file) => countByHour(file, owners, from)),
  findBeginning: (owners, text, limit) => readWhole((file) => findBeginning(file, owners, { text, limit })),
  countWaiting: (owners) => readWhole((file) => countWaiting(file, owners)),
  countDeclines: (owners, created) => readWhole((file) => countDeclines(file, owners, created)),
  listReviewsOfAll: (query) => readWhole((file) => listReviewsOfAll(file, query)),
  reviewsOf: (token) => readWhole((file) => reviewsOfToken(file, token)),
  // What is known of one payment is shown also while the index is not whole.
  disputesOf: (token) => read((file) => disputesOfPayment(file, token)),
  nextInquiryAt: (token) => read((file) => dueAtOf(file, token)),
});

interface Reads {
  read: <Answer>(from: (file: IndexFile) => Answer) => Answer;
  /** Guards answers that would be wrong while views are missing. */
  readWhole: <Answer>(from: (file: IndexFile) => Answer) => Answer;
}

function createReads(
  follower: IndexFollower,
  { isFollowing, isStopped }: Record<'isFollowing' | 'isStopped', () => boolean>,
): Reads {
  function opened(): IndexFile {
    const file = follower.file();
    if (file !== undefined) return file;
    if (isFollowing() && !isStopped()) throw indexRebuilding();
    throw new InvariantViolation('The index is not open: it is not started, or stopped.');
  }

  function read<Answer>(from: (file: IndexFile) => Answer): Answer {
    const file = opened();
    try {
      return from(file);
    } catch (error) {
      if (!isDamage(error)) throw error;
      follower.rebuildSoon(error);
      throw indexRebuilding(error);
    }
  }

  function readWhole<Answer>(from: (file: IndexFile) => Answer): Answer {
    if (isFollowing() && !follower.isComplete()) throw indexRebuilding();
    return read(from);
  }

  return { read, readWhole };
}

const positionsFrom = (
  readWhole: Reads['readWhole'],
  { setAside }: Pick<IndexFollower, 'setAside'>,
): Pick<PositionSource, 'sums' | 'find' | 'setAside' | 'atOnce'> => ({
  setAside,
  atOnce: (work) => readWhole((file) => file.atOnce(work)),
  sums: (query) => readWhole((file) => positionsIn(file, query)),
  find: (kind, token) => readWhole((file) => file.find(kind, token)),
});

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
