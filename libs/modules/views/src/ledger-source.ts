/**
 * The ledger as it is now: the sums of the index, and what the events change that it does not have yet. A payout is decided on
 * these, and does not wait for the index.
 */
import { type Environment, type LimitedOperation } from '@tollgate/core';
import type { RecordedEvent } from '@tollgate/event-store';
import { TollgateError, utcDayOf } from '@tollgate/service-kit';
import { createLedgerChanges, type LedgerAmounts, type Spending, type Standing } from '@tollgate/books';
import { kindOfStream, paymentKind, payoutKind, transferKind } from './view-kinds.ts';
import type { ViewEnvelope, ViewKind } from './view-kind.ts';

export interface LedgerSource {
  /**
   * Events up to the present end of the store. Those that the index lacks are among them, except of quarantined streams.
   *
   * @throws TollgateError `index_rebuilding`, retryable: the index lags too far; StoreUnavailable
   */
  recent(): Promise<readonly RecordedEvent[]>;
  quarantined(): readonly string[];
  /** One standing per merchant account. */
  balances(wallet: WalletQuery): readonly Standing[];
  /** By key. */
  spent(query: SpentQuery): readonly Pick<Spending, 'keyId' | 'amount'>[];
  find<View extends ViewEnvelope>(kind: ViewKind<View>, token: string): View | undefined;
  /** Reads inside are of one moment, even while others write. */
  atOnce<Answer>(read: () => Answer): Answer;
}

/** Prefixes of the streams whose events move money. */
export const ledgerPrefixes = [paymentKind, payoutKind, transferKind].map(({ streamPrefix }) => streamPrefix);

export interface WalletQuery {
  environment: Environment;
  wallet: string;
  currency: string;
}

export interface SpentQuery {
  environment: Environment;
  team: string;
  operation: LimitedOperation;
  currency: string;
  /** `YYYY-MM-DD`, in UTC. */
  day: string;
}

export interface LedgerQuery extends WalletQuery {
  /** Tokens to check for being recorded, and so part of the sums. `subject`: the payment of a refund, or the token itself. */
  commands: readonly { token: string; subject: string }[];
  spent: readonly SpentQuery[];
}

export interface LedgerNow {
  /** By merchant account; missing accounts have nothing. */
  byAccount: ReadonlyMap<string, LedgerAmounts>;
  /** Tokens of those commands that are recorded. */
  recorded: ReadonlySet<string>;
  /** The commands of that day that have not failed. @param keyId undefined: all keys of the team together */
  spentOf(query: SpentQuery, keyId: string | undefined): bigint;
}

/**
 * Includes everything that was recorded before the call.
 *
 * @throws TollgateError, retryable: `index_rebuilding`, `balance_unreadable` where a stream that may be of the wallet cannot be
 * read; StoreUnavailable
 */
export async function readLedger(source: LedgerSource, query: LedgerQuery): Promise<LedgerNow> {
  const events = await source.recent();
  return source.atOnce(() => {
    const changed = foldRecent(source, events, query);
    const find = <View extends ViewEnvelope>(kind: ViewKind<View>, token: string) =>
      (changed.get(`${kind.streamPrefix}${token}`)?.after as View | undefined) ?? source.find(kind, token);
    const spent = new Map(
      query.spent.map((each) => [JSON.stringify(each), [...source.spent(each), ...spentIn(changed, each)]]),
    );
    const recorded = query.commands.filter((command) => isRecorded(find, command));
    const balances = balancesWith(changed, source.balances(query), query);
    return {
      byAccount: new Map(balances.map(({ account, amounts }) => [account, amounts])),
      recorded: new Set(recorded.map(({ token }) => token)),
      spentOf: (asked, keyId) =>
        (spent.get(JSON.stringify(asked)) ?? [])
          .filter((each) => keyId === undefined || each.keyId === keyId)
          .reduce((sum, { amount }) => sum + BigInt(amount), 0n),
    };
  });
}

/** Changes by events that the index lacks, by stream. */
type Changed = Map<string, { kind: ViewKind; before: ViewEnvelope | undefined; after: ViewEnvelope }>;

/**
 * An event that the index has changes nothing.
 *
 * @throws `balance_unreadable` where a stream that may be of the wallet cannot be read
 */
function foldRecent(
  { quarantined, find }: LedgerSource,
  events: readonly RecordedEvent[],
  query: WalletQuery,
): Changed {
  const changed: Changed = new Map();
  // The view of a quarantined stream is old.
  const unreadable = new Set(quarantined());
  for (const event of events) {
    const { stream } = event;
    const kind = kindOfStream(stream);
    if (kind === undefined || unreadable.has(stream)) continue;
    const { before, after } = changed.get(stream) ?? asIndexed(find, kind, stream);
    try {
      changed.set(stream, { kind, before, after: kind.fold(after, event) });
    } catch {
      unreadable.add(stream);
    }
  }
  for (const stream of unreadable) {
    const kind = kindOfStream(stream);
    if (kind?.standingsOf === undefined) continue;
    const { after } = changed.get(stream) ?? asIndexed(find, kind, stream);
    // An unreadable one may belong to any wallet.
    if (after === undefined || isOf(kind, after, query))
      throw new TollgateError('balance_unreadable', `The stream ${stream} cannot be read.`, {
        retryable: true,
      });
  }
  return changed;
}

function asIndexed(find: LedgerSource['find'], kind: ViewKind, stream: string) {
  const view = find(kind, stream.slice(kind.streamPrefix.length));
  return { before: view, after: view };
}

function balancesWith(
  changed: Changed,
  indexed: readonly Standing[],
  { environment, wallet, currency }: WalletQuery,
): Standing[] {
  const sums = createLedgerChanges();
  sums.replace([], indexed);
  for (const { kind, before, after } of changed.values())
    if (before !== after)
      sums.replace((before && kind.standingsOf?.(before)) ?? [], kind.standingsOf?.(after) ?? []);
  return sums
    .list()
    .filter(
      (each) => each.environment === environment && each.wallet === wallet && each.currency === currency,
    );
}

function spentIn(
  changed: Changed,
  { environment, team, operation, currency, day }: SpentQuery,
): Pick<Spending, 'keyId' | 'amount'>[] {
  const spent = (kind: ViewKind, view: ViewEnvelope | undefined, sign: 1 | -1) =>
    ((view && kind.spendingOf?.(view)) ?? [])
      .filter(
        (each) => each.environment === environment && each.team === team && each.operation === operation,
      )
      .filter((each) => each.currency === currency && utcDayOf(each.at) === day)
      .map(({ keyId, amount }) => ({ keyId, amount: sign * amount }));
  return [...changed.values()].flatMap(({ kind, before, after }) => [
    ...spent(kind, before, -1),
    ...spent(kind, after, 1),
  ]);
}

function isRecorded(
  find: LedgerSource['find'],
  { token, subject }: { token: string; subject: string },
): boolean {
  if (token === subject)
    return [paymentKind, payoutKind, transferKind].some(
      (kind) => find(kind as ViewKind, token) !== undefined,
    );
  const refunds = find(paymentKind, subject)?.payment.refunds ?? [];
  return refunds.some(({ refundToken }) => refundToken === token);
}

/** By the wallet in its first event, even before it has moved money. */
function isOf(kind: ViewKind, view: ViewEnvelope, { environment, wallet }: WalletQuery): boolean {
  if (kind.ownerOf(view).environment !== environment) return false;
  return kind.walletsOf?.(view).includes(wallet) === true;
}
