/**
 * Positions as they are now: the sums of the index, as soon as it has what was recorded before. A payout is decided on these,
 * and a read model that is a moment behind must not let one pass.
 */
import type { Environment } from '@tollgate/core';
import { TollgateError } from '@tollgate/service-kit';
import { kindOfStream, payoutKind } from './view-kinds.ts';
import { noPosition, plusPosition, type PositionPart, type PositionSums } from './position.ts';
import { type ViewEnvelope, type ViewKind } from './view-kind.ts';

/** How long the read model is waited for, milliseconds. */
const waitMs = 2_000;

export interface PositionSource {
  /** Resolves when everything that was recorded before the call is in `sums` and `find`, except what is of quarantined streams. */
  waitForNow(timeoutMs: number): Promise<boolean>;
  quarantined(): readonly string[];
  sums(query: PositionQuery): readonly PositionPart[];
  find(kind: ViewKind, token: string): ViewEnvelope | undefined;
  /** What is read in between is of one moment, even while others write. */
  atOnce<Answer>(read: () => Answer): Answer;
}

export interface PositionQuery {
  environment: Environment;
  /** Those whose position it is together. */
  teams: readonly string[];
  currency: string;
}

/** What is asked about positions that a payout is decided on. */
export interface CurrentPositionQuery extends PositionQuery {
  /** Tokens of which it must be known whether they are in the sums. */
  payouts: readonly string[];
}

/** What the named teams have together. */
export interface CurrentPositions {
  /** By merchant account; an account that is not here has nothing. */
  byAccount: ReadonlyMap<string, PositionSums>;
  /** Those of the payouts asked for that have been recorded: they are in the sums by themselves. */
  recorded: ReadonlySet<string>;
}

/**
 * Includes everything that was recorded before the call.
 *
 * @throws TollgateError, retryable: `index_rebuilding`, also where the read model is too far behind; `position_unreadable`
 * where a stream that may be theirs cannot be read; StoreUnavailable
 */
export async function readCurrentPositions(
  source: PositionSource,
  query: CurrentPositionQuery,
): Promise<CurrentPositions> {
  if (!(await source.waitForNow(waitMs)))
    throw new TollgateError('index_rebuilding', 'The index is too far behind the store.', {
      retryable: true,
    });
  return source.atOnce(() => {
    requireWhole(source, query);
    const isRecorded = (token: string) => source.find(payoutKind, token) !== undefined;
    return {
      byAccount: sumByAccount(source.sums(query)),
      recorded: new Set(query.payouts.filter(isRecorded)),
    };
  });
}

/** The view of a stream that was set aside is old. One that nobody can read may be of any team: what it takes is not known. */
function requireWhole({ quarantined, find }: PositionSource, query: PositionQuery): void {
  for (const stream of quarantined()) {
    const kind = kindOfStream(stream);
    if (kind?.positionOf === undefined) continue;
    const view = find(kind, stream.slice(kind.streamPrefix.length));
    if (view === undefined || isOwn(kind, view, query))
      throw new TollgateError('position_unreadable', `The stream ${stream} cannot be read.`, {
        retryable: true,
      });
  }
}

function isOwn(kind: ViewKind, view: ViewEnvelope, { environment, teams }: PositionQuery): boolean {
  const owner = kind.ownerOf(view);
  return owner.environment === environment && owner.team !== undefined && teams.includes(owner.team);
}

function sumByAccount(parts: readonly PositionPart[]): Map<string, PositionSums> {
  const byAccount = new Map<string, PositionSums>();
  for (const { account, available, hold } of parts)
    byAccount.set(account, plusPosition(byAccount.get(account) ?? noPosition, { available, hold }));
  return byAccount;
}
