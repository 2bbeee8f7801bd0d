/**
 * The ledger as it is now: the sums of the index, as soon as it has what was recorded before. A payout is decided on these, and
 * a read model that is a moment behind must not let one pass.
 */
import type { Environment, LedgerAmounts, LimitedOperation, Spending, Standing } from '@tollgate/core';
import { TollgateError } from '@tollgate/service-kit';
import { kindOfStream, paymentKind, payoutKind, transferKind } from './view-kinds.ts';
import type { ViewEnvelope, ViewKind } from './view-kind.ts';

/** How long the index is waited for, milliseconds. */
const waitMs = 2_000;

export interface LedgerSource {
  /** Resolves when everything that was recorded before the call can be read, except what is of quarantined streams. */
  waitForNow(timeoutMs: number): Promise<boolean>;
  quarantined(): readonly string[];
  /** One standing for each merchant account. */
  balances(wallet: WalletQuery): readonly Standing[];
  /** By key. */
  spent(query: SpentQuery): readonly Pick<Spending, 'keyId' | 'amount'>[];
  find<View extends ViewEnvelope>(kind: ViewKind<View>, token: string): View | undefined;
  /** What is read in between is of one moment, even while others write. */
  atOnce<Answer>(read: () => Answer): Answer;
}

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
  /** Of each it is answered whether it is recorded, and so in the sums. `subject`: the payment of a refund, or the token itself. */
  commands: readonly { token: string; subject: string }[];
  spent: readonly SpentQuery[];
}

export interface LedgerNow {
  /** By merchant account; an account that is not here has nothing. */
  byAccount: ReadonlyMap<string, LedgerAmounts>;
  /** Tokens of those commands that are recorded. */
  recorded: ReadonlySet<string>;
  /** What was asked for on that day and has not come to nothing. @param keyId undefined: all keys of the team together */
  spentOf(query: SpentQuery, keyId: string | undefined): bigint;
}

/**
 * Includes everything that was recorded before the call.
 *
 * @throws TollgateError, retryable: `index_rebuilding`, also if the index is too far behind; `balance_unreadable` where a
 * stream that may be of the wallet cannot be read; StoreUnavailable
 */
export async function readLedger(source: LedgerSource, query: LedgerQuery): Promise<LedgerNow> {
  if (!(await source.waitForNow(waitMs)))
    throw new TollgateError('index_rebuilding', 'The index lags too far.', {
      retryable: true,
    });
  return source.atOnce(() => {
    requireWhole(source, query);
    const spent = new Map(query.spent.map((each) => [JSON.stringify(each), source.spent(each)]));
    const recorded = query.commands.filter((command) => isRecorded(source, command));
    return {
      byAccount: new Map(source.balances(query).map(({ account, amounts }) => [account, amounts])),
      recorded: new Set(recorded.map(({ token }) => token)),
      spentOf: (asked, keyId) =>
        (spent.get(JSON.stringify(asked)) ?? [])
          .filter((each) => keyId === undefined || each.keyId === keyId)
          .reduce((sum, { amount }) => sum + BigInt(amount), 0n),
    };
  });
}

function isRecorded({ find }: LedgerSource, { token, subject }: { token: string; subject: string }): boolean {
  if (token === subject)
    return [paymentKind, payoutKind, transferKind].some(
      (kind) => find(kind as ViewKind, token) !== undefined,
    );
  const refunds = find(paymentKind, subject)?.payment.refunds ?? [];
  return refunds.some(({ refundToken }) => refundToken === token);
}

/** The view of a quarantined stream is old. One that nobody can read may be of any wallet. */
function requireWhole({ quarantined, find }: LedgerSource, query: WalletQuery): void {
  for (const stream of quarantined()) {
    const kind = kindOfStream(stream);
    if (kind?.standingsOf === undefined) continue;
    const view = find(kind, stream.slice(kind.streamPrefix.length));
    if (view === undefined || isOf(kind, view, query))
      throw new TollgateError('balance_unreadable', `The stream ${stream} cannot be read.`, {
        retryable: true,
      });
  }
}

/** By the wallet that its beginning names, also while it has moved no money. */
function isOf(kind: ViewKind, view: ViewEnvelope, { environment, wallet }: WalletQuery): boolean {
  if (kind.ownerOf(view).environment !== environment) return false;
  return kind.walletsOf?.(view).includes(wallet) === true;
}
