/**
 * One run: the lists of an account and day are read page by page and compared, then our payments are searched among the
 * result. Every page is recorded before the next one is requested, so that a run continues after a kill.
 */
import { type EventStore, type LoadedState, loadState } from '@tollgate/event-store';
import {
  type ComparablePayment,
  type Page,
  pageRows,
  type ObservedPayout,
  type Cause,
  stateOf,
  reconciliationName,
} from '@tollgate/core';
import {
  type ReconciledPart,
  type ReconciliationEvent,
  type ReconciliationOutcome,
  type ReconciliationReport,
  type ReconciliationRequest,
  decodeReconciliationEvent,
  versionOfReconciliationEvent,
  differenceCountOf,
  reconciliationStream,
} from './reconciliation.ts';
import { type Clock, type Ids, type Log, omitUndefined, maskedText } from '@tollgate/service-kit';
import { type ListedRow, joinParts } from './comparison.ts';
import { reportReconciliation } from './journal.ts';
import { type RunProgress, evolveProgress, fingerprintOf, isListShort, noProgress } from './progress.ts';
import {
  AccountSilent,
  type RowContext,
  type RowDependencies,
  compareMissing,
  compareRow,
} from './differences-to-review.ts';
import type { OperationKind } from '@tollgate/books';

export interface RunDependencies extends RowDependencies {
  store: EventStore;
  ids: Ids;
  clock: Clock;
  log: Log;
}

/** `interrupted`: the account did not answer, or the process stops; the run continues later. */
export type RunEnd = 'ended' | 'interrupted';

/** Rows compared concurrently: only those that differ wait for anything. */
const rowsAtOnceMax = 16;
/** Maximum reviews of operations that only the provider has, per run; more are counted, and opened by later runs. */
const unmatchedReviewsMax = 1_000;
const operations = ['payment', 'payout'] as const;

/** Consecutive, with pauses of up to an hour between them: an unreadable page delays no other day for longer. */
const interruptionsMax = 8;

interface Run extends RunDependencies {
  request: ReconciliationRequest;
  cause: Cause;
  append: (event: ReconciliationEvent) => Promise<void>;
  progress: () => RunProgress;
  readAt: number;
  reviewsLeft: { count: number };
  signal: AbortSignal;
}

/** @throws StoreUnavailable; Error if another process has taken over this run */
export async function runReconciliation(
  deps: RunDependencies,
  request: ReconciliationRequest,
  signal: AbortSignal,
): Promise<RunEnd> {
  const run = await openRun(deps, request, signal);
  try {
    for (const operation of operations) {
      while (!signal.aborted && !run.progress().lists[operation].isRead) await comparePage(run, operation);
      if (!signal.aborted && !run.progress().lists[operation].areBooksCompared)
        await compareBooks(run, operation);
    }
  } catch (error) {
    if (!(error instanceof AccountSilent)) throw error;
    if (run.progress().interruptions < interruptionsMax) return interrupt(run, error.message);
    // The day is due again an hour later, and the other days are due meanwhile.
    await endRun(run, 'incomplete');
    return 'ended';
  }
  if (signal.aborted) return 'interrupted';
  const isShort = operations.some((operation) => isListShort(run.progress().lists[operation]));
  await endRun(run, isShort ? 'incomplete' : 'complete');
  return 'ended';
}

/** An account that is not configured: its request ends without a comparison. */
export async function refuseReconciliation(
  deps: RunDependencies,
  request: ReconciliationRequest,
): Promise<void> {
  const { signal } = new AbortController();
  await endRun(await openRun(deps, request, signal), 'account_unknown');
}

async function openRun(
  deps: RunDependencies,
  request: ReconciliationRequest,
  signal: AbortSignal,
): Promise<Run> {
  const { store, clock, ids } = deps;
  const stream = reconciliationStream(request.token);
  const cause: Cause = {
    correlationId: request.token,
    causationId: request.token,
    actor: { kind: 'service', name: reconciliationName },
  };
  let loaded: LoadedState<RunProgress> = await loadState({
    store,
    stream,
    initial: noProgress(),
    evolve: evolveProgress,
    decode: decodeReconciliationEvent,
  });
  async function append(event: ReconciliationEvent): Promise<void> {
    const recordedAt = clock.now();
    const metadata = { schemaVersion: versionOfReconciliationEvent(event), ...cause, recordedAt };
    const stored = { id: ids.uuid(), ...event, metadata };
    const appended = await store.append(stream, [stored], loaded.revision);
    if (appended.kind === 'conflict') throw new Error('another process has taken over a reconciliation');
    loaded = { state: evolveProgress(loaded.state, event), revision: appended.revision };
  }
  const readAt = clock.now();
  if (loaded.state.report === undefined)
    await append({ type: 'ReconciliationStarted', data: { ...request, startedAt: readAt } });
  const opened = reportOf(loaded.state).counts.onlyAtService;
  const reviewsLeft = { count: unmatchedReviewsMax - opened };
  return { ...deps, request, cause, append, progress: () => loaded.state, readAt, reviewsLeft, signal };
}

function reportOf({ report }: RunProgress): ReconciliationReport {
  if (report === undefined) throw new RangeError('a reconciliation continues that has not started');
  return report;
}

/** Reads the next page of a list and compares it. @throws AccountSilent */
async function comparePage(run: Run, operation: OperationKind): Promise<void> {
  const { request, cause, clock } = run;
  const { day } = request;
  const { pass, page, seen } = run.progress().lists[operation];
  const readAt = clock.now();
  const query = { from: day, to: day, page };
  const outcome = await run.askAccount<Page<ComparablePayment | ObservedPayout>>(
    request,
    cause,
    async (provider) =>
      operation === 'payment' ? provider.pageOfPayments(query) : provider.pageOfPayouts(query),
  );
  if (outcome.kind !== 'accepted')
    throw new AccountSilent('reason' in outcome ? outcome.reason : outcome.kind);
  const { found, total } = outcome.answer;
  const rows = newRowsOf(found, seen);
  const compared = await eachOf(rows, (row) => compareRow(run, contextOf(run, operation, readAt), row));
  // A stopping process inquires nothing: the process that continues the run compares this page again.
  if (run.signal.aborted) return;
  const seenAfter = seen.size + rows.length;
  // A full page may be followed by another one, regardless of the count.
  const mayFollow = found.length === pageRows && rows.length > 0;
  const hasShownAll = total === undefined ? rows.length === 0 : page * pageRows >= total && !mayFollow;
  const isLast = found.length === 0 || hasShownAll || (pass > 1 && seenAfter >= (total ?? 0));
  await run.append({
    type: 'PageCompared',
    data: {
      ...joinParts(operation, compared),
      pass,
      page,
      isLast,
      ...omitUndefined({ total }),
      seen: rows.map(({ serviceToken }) => fingerprintOf(serviceToken)).join(''),
    },
  });
}

/** Rows that no earlier page has shown: rows move to later pages while the list grows. */
function newRowsOf(
  found: readonly (ComparablePayment | ObservedPayout)[],
  seen: ReadonlySet<string>,
): ListedRow[] {
  const rows = new Map<string, ListedRow>();
  for (const each of found) {
    const row = toRow(each);
    if (!seen.has(fingerprintOf(row.serviceToken)) && !rows.has(row.serviceToken))
      rows.set(row.serviceToken, row);
  }
  return [...rows.values()];
}

function toRow(found: ComparablePayment | ObservedPayout): ListedRow {
  const observed = 'observed' in found ? found.observed : { refundedAmount: 0, ...found };
  const { serviceToken, status, amount, refundedAmount = null, currency, orderNumber, createdAt } = observed;
  return {
    serviceToken,
    amount,
    refundedAmount,
    orderNumber,
    createdAt,
    status: toKeep(status),
    currency: toKeep(currency),
  };
}

const textLengthMax = 100;
/** The provider's texts may have any length and content. */
const toKeep = (text: string): string => maskedText(text, textLengthMax);

const contextOf = (run: Run, operation: OperationKind, readAt: number): RowContext => ({
  operation,
  readAt,
  request: run.request,
  cause: run.cause,
  reviewsLeft: run.reviewsLeft,
});

/** Our payments that were accepted there, and that no page has shown. A kill repeats this: inquiries are harmless. */
async function compareBooks(run: Run, operation: OperationKind): Promise<void> {
  const { seen } = run.progress().lists[operation];
  const context = contextOf(run, operation, run.readAt);
  const parts: ReconciledPart[] = [];
  for (const views of run.books.pagesOf(operation, run.request)) {
    const unseen = views.flatMap((view) => {
      const serviceToken = stateOf(view).serviceToken;
      const isUnseen = serviceToken !== undefined && !seen.has(fingerprintOf(serviceToken));
      return isUnseen ? [{ view, serviceToken }] : [];
    });
    parts.push(
      ...(await eachOf(unseen, ({ view, serviceToken }) => compareMissing(run, context, view, serviceToken))),
    );
    if (run.signal.aborted) return;
    // Other work runs between pages.
    await run.clock.sleep(0);
  }
  await run.append({ type: 'BooksCompared', data: joinParts(operation, parts) });
}

async function endRun(run: Run, outcome: ReconciliationOutcome): Promise<void> {
  const { request, clock, log } = run;
  const { teams } = reportOf(run.progress());
  const sole = run.soleTeamOf(request);
  const team = [...teams].every((each) => each === sole) ? sole : undefined;
  const ended = { outcome, endedAt: clock.now(), ...omitUndefined({ team }) };
  if (reportOf(run.progress()).ended === undefined)
    await run.append({ type: 'ReconciliationEnded', data: ended });
  const report = reportOf(run.progress());
  const { startedAt, counts, sums } = report;
  await reportReconciliation(run, {
    ...request,
    ...(report.ended ?? ended),
    startedAt,
    counts,
    sums: [...sums],
  });
  const { account, token } = request;
  const count = differenceCountOf(counts);
  const about = { account, token, operation: reconciliationName, outcome: ended.outcome, count };
  if (outcome !== 'complete') log.error(about, 'a day was not compared completely');
  else if (count > 0) log.warn(about, 'a reconciliation has found differences');
  else log.info(about, 'a reconciliation has found no difference');
}

async function interrupt({ append, clock, log, request }: Run, reason: string): Promise<RunEnd> {
  const { account, token } = request;
  log.warn(
    { account, token, operation: reconciliationName, code: reason },
    'an account returned no list; the run will retry',
  );
  await append({
    type: 'ReconciliationInterrupted',
    data: { reason: reason.slice(0, 200), interruptedAt: clock.now() },
  });
  return 'interrupted';
}

/** In order, this many concurrently. */
async function eachOf<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let first = 0; first < items.length; first += rowsAtOnceMax)
    results.push(...(await Promise.all(items.slice(first, first + rowsAtOnceMax).map(work))));
  return results;
}
