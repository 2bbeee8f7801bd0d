/** Folds events into the rows of the index, with open reviews, sums and the journal. */
import {
  TooManyFailedStreams,
  failedStreamsMax,
  failureAt,
  type RecordedEvent,
  type StreamFailure,
} from '@tollgate/event-store';
import type { InquiryNeed } from '@tollgate/core';
import type { Log } from '@tollgate/service-kit';
import {
  kindOfStream,
  type Columns,
  type PaymentView,
  type ViewEnvelope,
  type ViewKind,
} from '@tollgate/views';
import type { DueAt } from './index-inquiries.ts';
import { writeJournal } from './index-journal.ts';
import { createSumsBatch, type SumsBatch } from './index-ledger.ts';
import { writeMetadata } from './index-filters.ts';
import { writeRefunds } from './index-refunds.ts';
import { writeReviews } from './index-reviews.ts';
import { toView, type Row, type Statements } from './index-rows.ts';

interface Writing {
  dueAt: DueAt;
  log: Pick<Log, 'error'>;
}

/** Call in a transaction. @throws TollgateError `too_many_failed_streams` */
export function applyEvents(
  statements: Statements,
  events: readonly RecordedEvent[],
  writing: Writing,
): void {
  const sums = createSumsBatch();
  for (const [stream, ofStream] of Map.groupBy(events, (event) => event.stream)) {
    if (isQuarantined(statements, stream)) continue;
    const failure = applyToRow(statements, { stream, events: ofStream, sums }, writing);
    if (failure !== undefined) quarantine(statements, failure, writing);
  }
  sums.applyTo(statements);
}

/** Applies a quarantined stream from the failed event on; it is quarantined again if that fails. Call in a transaction. */
export function retryStream(
  statements: Statements,
  { stream, events }: { stream: string; events: readonly RecordedEvent[] },
  writing: Writing,
): void {
  statements('DELETE FROM quarantined WHERE stream = ?').run(stream);
  applyEvents(statements, events, writing);
}

interface Quarantined {
  stream: string;
  /** Of the failed event. */
  revision: number;
}

export const quarantinedIn = (statements: Statements) =>
  statements('SELECT stream, revision FROM quarantined ORDER BY stream').all() as unknown[] as Quarantined[];

const isQuarantined = (statements: Statements, stream: string): boolean =>
  statements('SELECT 1 FROM quarantined WHERE stream = ?').get(stream) !== undefined;

function quarantine(statements: Statements, { failed, error }: StreamFailure, { log }: Writing): void {
  const { stream, revision, code } = failed;
  log.error(
    { error, stream, revision, code },
    'an event cannot be applied; the index quarantines its stream',
  );
  statements('INSERT OR REPLACE INTO quarantined VALUES (?, ?, ?)').run(stream, revision, code);
  // The fault does not lie in single streams.
  if (quarantinedIn(statements).length > failedStreamsMax) throw new TooManyFailedStreams();
}

export const rowOf = (
  statements: Statements,
  { table, streamPrefix }: ViewKind,
  stream: string,
): Row | undefined =>
  statements(`SELECT * FROM ${table.name} WHERE token = ?`).get(stream.slice(streamPrefix.length));

/** Folds events of one stream into its row, up to one that cannot be applied. */
function applyToRow(
  statements: Statements,
  { stream, events, sums }: { stream: string; events: readonly RecordedEvent[]; sums: SumsBatch },
  writing: Writing,
): StreamFailure | undefined {
  const kind = kindOfStream(stream);
  if (kind === undefined) return undefined;
  const row = rowOf(statements, kind, stream);
  const before = row && toView(kind, row);
  let view = before;
  let failure: StreamFailure | undefined;
  for (const event of events)
    try {
      const folded = kind.fold(view, event);
      if (folded !== view) {
        feed(statements, { kind, view: folded }, event);
        writeJournal(statements, { kind, before: view, after: folded }, event, sums.addToMonth);
      }
      view = folded;
    } catch (error) {
      failure = failureAt(event, error);
      break;
    }
  if (view !== undefined && view !== before)
    writeView(statements, { kind, view, row, before, sums }, writing);
  return failure;
}

/** Adds an event to the feed of its team, if its team is known by then. */
function feed(statements: Statements, { kind, view }: IndexedView, event: RecordedEvent): void {
  const { environment, team } = kind.ownerOf(view);
  if (kind.table.isFed !== true || team === undefined) return;
  const { position, stream, revision } = event;
  statements('INSERT OR IGNORE INTO events VALUES (?, ?, ?, ?, ?)').run(
    environment,
    team,
    position,
    stream,
    revision,
  );
}

export interface IndexedView {
  kind: ViewKind;
  view: ViewEnvelope;
}

interface ChangedView extends IndexedView {
  row: Row | undefined;
  before: ViewEnvelope | undefined;
  sums: SumsBatch;
}

export function writeView(statements: Statements, changed: ChangedView, writing: Writing): void {
  const { kind, view, row, before, sums } = changed;
  writeRow(statements, { kind, view, before: row }, writing);
  writeReviews(statements, kind, view);
  if (kind.name === 'payment')
    writeRefunds(statements, view as PaymentView, before as PaymentView | undefined);
  sums.replace({ kind, before, after: view });
}

/** In an existing row only changed columns are set, so that the indexes of others are not rewritten. */
function writeRow(
  statements: Statements,
  { kind, view, before }: { kind: ViewKind; view: ViewEnvelope; before: Row | undefined },
  { dueAt }: Writing,
): void {
  const { name, fixedColumns, changingColumns, inquiryNeedOf } = kind.table;
  const { token, createdAt } = view;
  const changing = { ...changingColumns(view), ...dueColumns(view, inquiryNeedOf?.(view), dueAt) };
  if (before === undefined) {
    const row = { token, ...fixedColumns(view), created_at: createdAt, ...changing };
    insert(statements, name, { ...row, ...envelopeColumnsOf(view) });
    writeMetadata(statements, kind, view);
    return;
  }
  const changed = Object.entries(changing).filter(([column, value]) => before[column] !== value);
  const columns = { ...Object.fromEntries(changed), ...envelopeColumnsOf(view) };
  const sets = Object.keys(columns).map((column) => `${column} = :${column}`);
  statements(`UPDATE ${name} SET ${sets.join(', ')} WHERE token = :token`).run({ ...columns, token });
}

function dueColumns(
  { token, updatedAt }: ViewEnvelope,
  inquiryNeed: InquiryNeed | undefined,
  dueAt: DueAt,
): Columns {
  if (inquiryNeed === undefined) return {};
  const due = dueAt({ token, inquiryNeed, updatedAt });
  return {
    inquiry_need: inquiryNeed,
    // A separate column, because statements bind the other one: see the note on partial indexes.
    is_unresolved: inquiryNeed === 'unresolved' ? 1 : 0,
    due_at: due === undefined ? null : Math.ceil(due),
  };
}

function insert(statements: Statements, table: string, row: Columns): void {
  const columns = Object.keys(row);
  const values = columns.map((column) => `:${column}`);
  statements(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values.join(', ')})`).run(row);
}

const envelopeColumnsOf = (view: ViewEnvelope): Columns => ({
  updated_at: view.updatedAt,
  revision: view.revision,
  view: JSON.stringify(view),
});
