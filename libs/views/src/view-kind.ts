/**
 * What the documents of all kinds have in common. A document is the state of one stream, folded from its events, in a
 * stream of its own; folding again from zero gives the same bytes.
 */
import type { SQLInputValue } from 'node:sqlite';
import type { Position, RecordedEvent } from '@tollgate/event-store';
import { InvariantViolation, eventMetadataSchema, type Environment } from '@tollgate/payment-domain';
import { z } from 'zod';

/** A position as it comes back from a file or a stream. */
export const positionSchema = z.custom<Position>((value) => typeof value === 'string' && value.length <= 128);

/** Milliseconds since the Unix epoch. */
export const instantSchema = z.int().min(0).max(8_640_000_000_000_000);

export interface ViewEnvelope {
  /** Of the document's schema: one of another version is folded again from the beginning. */
  schemaVersion: number;
  token: string;
  /** When the first and the last event were decided, milliseconds since the Unix epoch. */
  createdAt: number;
  updatedAt: number;
  /** Of the last event that is in the document, in its stream. */
  revision: number;
  /** Of the last event that is in the document, in the store. */
  position: Position;
}

export const envelopeSchema = {
  token: z.string().min(1),
  createdAt: instantSchema,
  updatedAt: instantSchema,
  revision: z.int().min(0),
  position: positionSchema,
};

/** The fields of a schema: one that is not among them would be lost when a document is stored, without a word. */
export type EveryField<State> = Record<keyof State, z.ZodType>;

/** An event of one stream with what a document takes over beside its data. */
export interface Happened<Event> {
  token: string;
  event: Event;
  /** When it was decided, milliseconds since the Unix epoch. */
  recordedAt: number;
  revision: number;
  position: Position;
}

/** The revision of the event that a document waits for. */
export const nextRevision = (view: Pick<ViewEnvelope, 'revision'> | undefined): number =>
  view === undefined ? 0 : view.revision + 1;

/** @throws InvariantViolation where events are missing between the document and this one */
export function createdAtOf(
  before: ViewEnvelope | undefined,
  { recordedAt, revision }: Happened<unknown>,
): number {
  if (revision !== nextRevision(before)) throw new InvariantViolation('events are missing before this one');
  return before === undefined ? recordedAt : before.createdAt;
}

/** What a fold needs of the metadata: the rest costs more to check than the fold, and is not in a document. */
const metadataOfFoldSchema = eventMetadataSchema.pick({ schemaVersion: true, recordedAt: true });

/**
 * Gives the fold of one kind: the document after one more event of its stream. An event that it has seen already
 * changes nothing. The fold throws what `decode` and `evolve` throw, and z.ZodError for metadata of no version of ours.
 */
export const createFold =
  <View extends ViewEnvelope, Event>({
    streamPrefix,
    decode,
    evolve,
  }: {
    streamPrefix: string;
    decode: (recorded: RecordedEvent) => Event;
    evolve: (view: View | undefined, happened: Happened<Event>) => View;
  }) =>
  (view: View | undefined, recorded: RecordedEvent): View => {
    const { revision, position } = recorded;
    if (view !== undefined && revision <= view.revision) return view;
    const token = view?.token ?? recorded.stream.slice(streamPrefix.length);
    const { recordedAt } = metadataOfFoldSchema.parse(recorded.metadata);
    return evolve(view, { token, event: decode(recorded), recordedAt, revision, position });
  };

/** Columns of a row by name, as SQLite stores them. */
export type Columns = Record<string, SQLInputValue>;

/** Where documents of a kind stand in the index, beside the columns that all kinds have. */
export interface IndexTable<View> {
  name: 'payments' | 'payouts' | 'disputes';
  /** What no event changes: the indexes of these columns are not written again. */
  fixedColumns(view: View): Columns;
  changingColumns(view: View): Columns;
  /** Those that show a status, of what is listed by status. */
  phasesOf?(status: string): readonly string[];
}

/** All that the projector and the index need to know of one kind of document. */
export interface ViewKind<View extends ViewEnvelope = ViewEnvelope> {
  name: 'payment' | 'payout' | 'dispute';
  /** Of the streams whose events are folded. */
  streamPrefix: string;
  /** Type of the event that holds a document. */
  writtenEventType: string;
  /** Of {@link schema}: it grows with every change to it, and older documents are folded again. */
  schemaVersion: number;
  /** Parsing also brings the fields into one order, whatever order the events brought. */
  schema: z.ZodType<View>;
  /** The document after one more event; one that it has seen changes nothing. Throws where the event cannot be applied. */
  fold(view: View | undefined, recorded: RecordedEvent): View;
  /** Whose it is; the team is not always known. */
  ownerOf(view: View): { environment: Environment; team?: string | undefined };
  /** Since when each matter has waited for a person, milliseconds since the Unix epoch. */
  reviewsSinceOf(view: View): readonly number[];
  table: IndexTable<View>;
}

export const streamOf = ({ streamPrefix }: ViewKind, token: string): string => `${streamPrefix}${token}`;
