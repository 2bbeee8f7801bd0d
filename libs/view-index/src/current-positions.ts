/**
 * Positions as they are now: the sums of the index, and what the store has recorded since. A payout is decided on these,
 * and a read model that is a moment behind must not let one pass.
 */
import type { EventStore, Position, RecordedEvent } from '@tollgate/event-store';
import type { Environment } from '@tollgate/payment-domain';
import { TollgateError } from '@tollgate/service-kit';
import {
  createPositionChanges,
  kindOfStream,
  noPosition,
  payoutKind,
  paymentKind,
  plusPosition,
  type PositionPart,
  type PositionSums,
  type ViewEnvelope,
  type ViewKind,
} from '@tollgate/views';

/** Events that the read model may be behind at most: more would make each payout slow. */
export const behindEventsMax = 20_000;

export interface PositionSource {
  store: Pick<EventStore, 'subscribe'>;
  /** Every event at or before it is in `sums` and `find`, except those of quarantined streams. */
  position(): Position;
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
  const from = source.position();
  const since = await eventsSince(source.store, from);
  if (source.position() < from) throw behind();
  return source.atOnce(() => positionsWith(since, source, query));
}

/** Rows and sums are of one moment: which events are in them already, the rows tell. */
function positionsWith(
  since: ReadonlyMap<string, RecordedEvent[]>,
  source: PositionSource,
  query: CurrentPositionQuery,
): CurrentPositions {
  requireWhole(source, query);
  const changes = createPositionChanges();
  const recent = new Map<string, ViewEnvelope>();
  for (const [stream, events] of since) {
    const kind = kindOfStream(stream);
    if (kind === undefined) continue;
    const before = source.find(kind, stream.slice(kind.streamPrefix.length));
    if (before !== undefined && !isOwn(kind, before, query)) continue;
    const after = foldOwn(kind, before, events, query);
    if (after === undefined) continue;
    recent.set(stream, after);
    changes.replace(before && kind.positionOf?.(before), kind.positionOf?.(after));
  }
  const ofCurrency = changes.list().filter(({ currency }) => currency === query.currency);
  return {
    byAccount: sumByAccount([...source.sums(query), ...ofCurrency]),
    recorded: new Set(
      query.payouts.filter(
        (token) =>
          recent.has(`${payoutKind.streamPrefix}${token}`) || source.find(payoutKind, token) !== undefined,
      ),
    ),
  };
}

/** The view of a stream that was set aside is old, and the position goes past the events that are not in it. */
function requireWhole({ quarantined, find }: PositionSource, query: PositionQuery): void {
  for (const stream of quarantined()) {
    const kind = kindOfStream(stream);
    if (kind?.positionOf === undefined) continue;
    const view = find(kind, stream.slice(kind.streamPrefix.length));
    if (view === undefined || isOwn(kind, view, query)) throw unreadable(stream);
  }
}

/** By stream, in order. */
async function eventsSince(
  store: Pick<EventStore, 'subscribe'>,
  from: Position,
): Promise<Map<string, RecordedEvent[]>> {
  const ending = new AbortController();
  const prefixes = [paymentKind.streamPrefix, payoutKind.streamPrefix];
  const byStream = new Map<string, RecordedEvent[]>();
  let count = 0;
  try {
    for await (const item of store.subscribe({ from, prefixes, signal: ending.signal })) {
      if (item.kind === 'caught-up') break;
      if ((count += 1) > behindEventsMax) throw behind();
      const events = byStream.get(item.stream);
      if (events === undefined) byStream.set(item.stream, [item]);
      else events.push(item);
    }
  } finally {
    ending.abort();
  }
  return byStream;
}

/** Undefined where it is another team's. */
function foldOwn(
  kind: ViewKind,
  before: ViewEnvelope | undefined,
  [first, ...others]: readonly RecordedEvent[],
  query: PositionQuery,
): ViewEnvelope | undefined {
  if (first === undefined) return before;
  // What is missing in between may be a refund, or a payout.
  if (before !== undefined && first.revision > before.revision + 1) throw behind();
  try {
    const begun = kind.fold(before, first);
    return isOwn(kind, begun, query)
      ? others.reduce((view, event) => kind.fold(view, event), begun)
      : undefined;
  } catch (cause) {
    throw unreadable(first.stream, cause);
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

/** A stream that nobody can read may be of any team: what it takes is not known. */
const unreadable = (stream: string, cause?: unknown): TollgateError =>
  new TollgateError('position_unreadable', `The stream ${stream} cannot be read.`, {
    retryable: true,
    cause,
  });

const behind = (): TollgateError =>
  new TollgateError('index_rebuilding', 'The index is too far behind the store.', { retryable: true });
