/**
 * Shared by views of all kinds. A view is the state of one stream, folded from its events, in its own stream; folding
 * again from zero gives the same bytes.
 */
import type { SQLInputValue } from 'node:sqlite';
import {
  createRecentlyUsed,
  oncePerEvent,
  positionSchema,
  readLast,
  type EventStore,
  type Position,
  type RecordedEvent,
  countedSchema,
  failedStreamSchema,
} from '@tollgate/event-store';
import { InvariantViolation, type Environment, type InquiryNeed } from '@tollgate/core';
import type { Clock } from '@tollgate/service-kit';
import { z } from 'zod';
import type { Spending, Standing } from '@tollgate/books';
import type { Contribution } from './totals.ts';

/**
 * Raise with every change to a schema of views, to the fold, to the booking rule, or to the contents or columns of the index:
 * views and indexes of another version are not used, and folded again.
 */
export const viewSchemaVersion = 1;

export interface Versioned {
  schemaVersion: typeof viewSchemaVersion;
}

/** Milliseconds since the Unix epoch. */
export const instantSchema = z.int().min(0).max(8_640_000_000_000_000);

export interface ViewEnvelope {
  schemaVersion: number;
  token: string;
  /** Decision times of the first and the last event, milliseconds since the Unix epoch. */
  createdAt: number;
  updatedAt: number;
  /** Revision of the last event in the view, in its stream. */
  revision: number;
  /** Position of the last event in the view, in the store. */
  position: Position;
}

/** An event of one stream with the metadata that a view uses. */
interface Happened<Event> {
  token: string;
  event: Event;
  /** Decision time, milliseconds since the Unix epoch. */
  recordedAt: number;
  revision: number;
  position: Position;
}

/** The only metadata that a fold needs. Without a schema: followers fold millions of events. */
function recordedAtOf(metadata: unknown): number {
  const recordedAt = (metadata as { recordedAt?: unknown } | null)?.recordedAt;
  if (typeof recordedAt === 'number' && Number.isSafeInteger(recordedAt)) return recordedAt;
  throw new InvariantViolation('the metadata of an event have no time');
}

/**
 * How one kind is stored and folded: `fold` gives the view after one more event of its stream. An event that it has seen already
 * changes nothing. Parsing also puts the fields into a fixed order, independent of the order of events. The fold throws what
 * `decode` and `evolve` throw, and InvariantViolation for metadata without a time.
 */
export function viewsOf<View extends ViewEnvelope, Event extends object>(
  streamPrefix: string,
  content: z.ZodRawShape,
  decode: (recorded: RecordedEvent) => Event,
  evolve: (view: View | undefined, happened: Happened<Event>) => Omit<View, 'schemaVersion'>,
) {
  const decodeOnce = oncePerEvent(decode);
  const schema = z.object({
    schemaVersion: z.literal(viewSchemaVersion),
    token: z.string().min(1),
    createdAt: instantSchema,
    updatedAt: instantSchema,
    revision: z.int().min(0),
    position: positionSchema,
    ...content,
  }) as unknown as z.ZodType<View>;
  return {
    streamPrefix,
    schema,
    decode: decodeOnce,
    fold(view: View | undefined, recorded: RecordedEvent): View {
      const { revision, position } = recorded;
      if (view !== undefined && revision <= view.revision) return view;
      const token = view?.token ?? recorded.stream.slice(streamPrefix.length);
      const recordedAt = recordedAtOf(recorded.metadata);
      const event = decodeOnce(recorded);
      const after = evolve(view, { token, event, recordedAt, revision, position });
      return { schemaVersion: viewSchemaVersion, ...after } as View;
    },
  };
}

/** Columns of a row by name, as SQLite stores them. */
export type Columns = Record<string, SQLInputValue>;

/** The index columns of one kind of view, beyond those of all kinds. */
interface IndexTable<View> {
  name: 'payments' | 'payouts' | 'disputes' | 'transfers' | 'unmatched';
  /** Columns that no event changes: their indexes are not rewritten. */
  fixedColumns(view: View): Columns;
  changingColumns(view: View): Columns;
  /** Columns for the inquiry need; only tables of inquired kinds have them. */
  inquiryNeedOf?(view: View): InquiryNeed;
  /** True if its events are in the feed of its team. */
  isFed?: true;
  /** The team's metadata, if lists filter by them. No event changes them. */
  metadataOf?(view: View): Readonly<Record<string, string>> | undefined;
  /** Columns for the status; only kinds listed by status have them. */
  phasesOf?(status: string): readonly string[];
}

/** Everything that the projector and the index need for one kind of view. */
export interface ViewKind<View extends ViewEnvelope = ViewEnvelope> {
  name: 'payment' | 'payout' | 'dispute' | 'transfer' | 'unmatched';
  streamPrefix: string;
  /** Parsing also puts the fields into a fixed order, independent of the order of events. */
  schema: z.ZodType<View>;
  /** The event in the domain's form. Throws if none of our versions has written it. */
  decode(recorded: RecordedEvent): { type: string; data: object };
  /** The view after one more event; one that is already in it changes nothing. Throws if the event cannot be applied. */
  fold(view: View | undefined, recorded: RecordedEvent): View;
  /** The owner; the team is not always known. */
  ownerOf(view: View): { environment: Environment; team?: string | undefined };
  /** Opening time of each open review, milliseconds since the Unix epoch. */
  reviewsSinceOf(view: View): readonly number[];
  /** Contribution to the totals of its team; absent for kinds that are not counted. */
  contributionOf?(view: View): Contribution;
  /** Its wallets; absent for kinds that move no money. */
  walletsOf?(view: View): readonly string[];
  /** Its standing in the ledger; absent for kinds that move no money. */
  standingsOf?(view: View): readonly Standing[];
  /** Its amounts under the limits of a day; absent for kinds that are not limited. */
  spendingOf?(view: View): readonly Spending[];
  table: IndexTable<View>;
}

export const streamOf = ({ streamPrefix }: ViewKind, token: string): string => `${streamPrefix}${token}`;

/** Type of the events that store views. */
export const viewWrittenType = 'ViewWritten';

/** The stream of the view that is folded from `stream`; only its last event is kept. */
export const viewStreamOf = (stream: string): string => `view_${stream}`;

/** The current state of a stream, from its events; undefined if it has none. @throws what the fold throws */
export async function foldStream<View extends ViewEnvelope>(
  store: Pick<EventStore, 'read'>,
  kind: ViewKind<View>,
  token: string,
): Promise<View | undefined> {
  let view: View | undefined;
  for await (const event of store.read(streamOf(kind, token))) view = kind.fold(view, event);
  return view;
}

/** Maximum views in memory. */
const recentViewsMax = 1_000;
/** A stored view is read again after this: a rebuild may have repaired it. @unit milliseconds */
export const recentViewMs = 60_000;

export type RecentViews = ReturnType<typeof createRecentViews>;

/** Views of one process that were read last, by stream. */
export function createRecentViews(clock: Pick<Clock, 'monotonic'>) {
  const views = createRecentlyUsed<{ view: ViewEnvelope; readAt: number }>(recentViewsMax);
  const find = (stream: string) => {
    const known = views.get(stream);
    return known !== undefined && clock.monotonic() - known.readAt < recentViewMs ? known : undefined;
  };
  return {
    get: (stream: string): ViewEnvelope | undefined => find(stream)?.view,
    /** A view that is folded from the one in memory keeps its age, so that polling does not keep a damaged view. */
    set(stream: string, view: ViewEnvelope): void {
      views.set(stream, { view, readAt: find(stream)?.readAt ?? clock.monotonic() });
    },
  };
}

/**
 * As {@link foldStream}, from the view that was read last, or else the stored one, and the events after it: callers poll. A
 * view of another form is not used.
 *
 * @throws what the fold throws; StoreUnavailable
 */
export async function readView<View extends ViewEnvelope>(
  store: Pick<EventStore, 'read'>,
  kind: ViewKind<View>,
  token: string,
  recent: RecentViews,
): Promise<View | undefined> {
  const stream = streamOf(kind, token);
  let view = recent.get(stream) as View | undefined;
  view ??= kind.schema.safeParse((await readLast(store, viewStreamOf(stream)))?.data).data;
  for await (const event of store.read(stream, { from: (view?.revision ?? -1) + 1 }))
    view = kind.fold(view, event);
  if (view !== undefined) recent.set(stream, view);
  return view;
}

/** Only its last event is kept. */
export const checkpointStream = viewStreamOf('checkpoint-views');

/**
 * Written after the views: every event at or before `position` is in its view, except those of the failed streams.
 * Followers of the same streams compare their counts with the projector's.
 */
export const viewCheckpointSchema = countedSchema.extend({ failedStreams: z.array(failedStreamSchema) });
export type ViewCheckpoint = z.infer<typeof viewCheckpointSchema>;
