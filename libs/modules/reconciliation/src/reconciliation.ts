/**
 * Reconciliation of one account and day: the provider's list is compared with our books, and vice versa. Each run has a stream,
 * which is its progress and its report; the journal lists the runs.
 */
import { z } from 'zod';
import { environmentSchema, instantSchema, reportedSumSchema } from '@tollgate/core';
import { operationKindSchema } from '@tollgate/books';
import { type EventOf, eventFamily } from '@tollgate/event-store';

export const reconciliationJournal = 'reconciliations';
export const reconciliationStreamPrefix = 'reconciliation-';
export const reconciliationTokenPrefix = 'rcn';
export const reconciliationStream = (token: string): string => `${reconciliationStreamPrefix}${token}`;

const daySchema = z.iso.date();

const requestSchema = z.object({
  token: z.string(),
  environment: environmentSchema,
  account: z.string(),
  /** Of creation, `YYYY-MM-DD` in UTC. */
  day: daySchema,
  /** Compares only: no inquiry is recorded, no review opens. */
  isDryRun: z.boolean(),
  by: z.enum(['schedule', 'person']),
  requestedAt: instantSchema,
});
export type ReconciliationRequest = z.infer<typeof requestSchema>;

/** `differs`: status, amount or refunded sum; `another_token`: our number with an unknown token. */
const differenceKinds = ['differs', 'another_token', 'only_here', 'only_at_service'] as const;

const amountsSchema = z.object({ status: z.string(), amount: z.number(), refundedAmount: reportedSumSchema });
const differenceSchema = z.object({
  kind: z.enum(differenceKinds),
  operation: operationKindSchema,
  /** Our token. */
  token: z.string().optional(),
  serviceToken: z.string(),
  currency: z.string(),
  here: amountsSchema.optional(),
  there: amountsSchema.optional(),
  /** The inquiry that followed has recorded it, or opened a review. */
  isSettled: z.boolean(),
});
export type Difference = z.infer<typeof differenceSchema>;

const countsSchema = z.object({
  matched: z.int(),
  differing: z.int(),
  onlyHere: z.int(),
  onlyAtService: z.int(),
  /** Created that day here, and listed by the provider under another day. */
  onOtherDays: z.int(),
  /** Too young, or changed during the read: the next run compares it. */
  underWay: z.int(),
});
export type Counts = z.infer<typeof countsSchema>;
export const noCounts = Object.fromEntries(
  Object.keys(countsSchema.shape).map((name) => [name, 0]),
) as Counts;

/** Minor units: `payments` are approved and not yet refunded, `refunds` are refunded. */
const sumsSchema = z.object({
  currency: z.string(),
  paymentsHere: z.number(),
  paymentsThere: z.number(),
  refundsHere: z.number(),
  refundsThere: z.number(),
  payoutsHere: z.number(),
  payoutsThere: z.number(),
});
export type Sums = z.infer<typeof sumsSchema>;

const partSchema = z.object({
  operation: operationKindSchema,
  counts: countsSchema,
  sums: z.array(sumsSchema),
  differences: z.array(differenceSchema),
  /** Teams whose payments were compared. */
  teams: z.array(z.string()),
});
export type ReconciledPart = z.infer<typeof partSchema>;

const outcomeSchema = z.enum(['complete', 'incomplete', 'account_unknown']);
export type ReconciliationOutcome = z.infer<typeof outcomeSchema>;

const eventSchemas = {
  ReconciliationStarted: requestSchema.extend({ startedAt: instantSchema }),
  /** A page of the provider's list; `seen` holds twelve characters for each row that no earlier page had. */
  PageCompared: partSchema.extend({
    pass: z.int(),
    page: z.int(),
    isLast: z.boolean(),
    total: z.int().optional(),
    seen: z.string(),
  }),
  /** Our operations that were on no page. */
  BooksCompared: partSchema,
  /** The account did not answer; the run continues at the same page. */
  ReconciliationInterrupted: z.object({ reason: z.string(), interruptedAt: instantSchema }),
  /** `team`: the only team whose payments were compared, which may see the report. */
  ReconciliationEnded: z.object({
    outcome: outcomeSchema,
    team: z.string().optional(),
    endedAt: instantSchema,
  }),
} as const;

export type ReconciliationEvent = EventOf<typeof eventSchemas>;

const summarySchema = requestSchema.extend({
  outcome: outcomeSchema,
  team: z.string().optional(),
  startedAt: instantSchema,
  endedAt: instantSchema,
  counts: countsSchema,
  sums: z.array(sumsSchema),
});
export type ReconciliationSummary = z.infer<typeof summarySchema>;

const journalSchemas = {
  ReconciliationRequested: requestSchema,
  ReconciliationReported: summarySchema,
} as const;
export type ReconciliationJournalEvent = EventOf<typeof journalSchemas>;

export const { decode: decodeReconciliationEvent, versionOf: versionOfReconciliationEvent } =
  eventFamily(eventSchemas);
export const { decode: decodeReconciliationJournalEvent, versionOf: versionOfReconciliationJournalEvent } =
  eventFamily(journalSchemas);

export interface ReconciliationReport {
  request: ReconciliationRequest;
  startedAt: number;
  counts: Counts;
  sums: readonly Sums[];
  differences: readonly Difference[];
  teams: ReadonlySet<string>;
  ended?: { outcome: ReconciliationOutcome; team?: string | undefined; endedAt: number };
}

/** @throws RangeError if the first event is not ReconciliationStarted */
export function evolveReconciliationReport(
  report: ReconciliationReport | undefined,
  event: ReconciliationEvent,
): ReconciliationReport {
  if (event.type === 'ReconciliationStarted') {
    const { startedAt, ...request } = event.data;
    return {
      request,
      startedAt,
      counts: noCounts,
      sums: [],
      differences: [],
      teams: new Set(),
    };
  }
  if (report === undefined) throw new RangeError(`${event.type} came before ReconciliationStarted`);
  switch (event.type) {
    case 'PageCompared':
    case 'BooksCompared': {
      const { counts, sums, differences, teams } = event.data;
      return {
        ...report,
        counts: addCounts(report.counts, counts),
        sums: addSums([...report.sums, ...sums]),
        differences: [...report.differences, ...differences],
        teams: new Set([...report.teams, ...teams]),
      };
    }
    case 'ReconciliationEnded':
      return { ...report, ended: event.data };
    case 'ReconciliationInterrupted':
      return report;
  }
}

export const addCounts = (a: Counts, b: Counts): Counts =>
  Object.fromEntries(
    Object.entries(a).map(([name, count]) => [name, count + b[name as keyof Counts]]),
  ) as Counts;

/** One entry per currency, in order. */
export function addSums(all: readonly Sums[]): Sums[] {
  const byCurrency = new Map<string, Sums>();
  for (const { currency, ...sums } of all) {
    const before = byCurrency.get(currency);
    const added = Object.entries(sums).map(([name, sum]) => [
      name,
      sum + (before?.[name as keyof typeof sums] ?? 0),
    ]);
    byCurrency.set(currency, { currency, ...(Object.fromEntries(added) as typeof sums) });
  }
  return [...byCurrency.values()].sort((a, b) => (a.currency < b.currency ? -1 : 1));
}

/** Number of differences. */
export const differenceCountOf = ({ differing, onlyHere, onlyAtService }: Counts): number =>
  differing + onlyHere + onlyAtService;
