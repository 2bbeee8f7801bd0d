import { describe, expect, it } from 'vitest';
import {
  type Counts,
  type Difference,
  type ReconciledPart,
  type ReconciliationEvent,
  type ReconciliationJournalEvent,
  type ReconciliationReport,
  type ReconciliationRequest,
  type Sums,
  addSums,
  decodeReconciliationEvent,
  decodeReconciliationJournalEvent,
  differenceCountOf,
  evolveReconciliationReport,
  noCounts,
  reconciliationJournal,
  reconciliationStream,
  reconciliationTokenPrefix,
} from './reconciliation.ts';

const counts: Counts = {
  matched: 5,
  differing: 1,
  onlyHere: 2,
  onlyAtService: 4,
  onOtherDays: 8,
  underWay: 16,
};
const sums = (currency: string, times = 1): Sums => ({
  currency,
  paymentsHere: times,
  paymentsThere: 2 * times,
  refundsHere: 3 * times,
  refundsThere: 4 * times,
  payoutsHere: 5 * times,
  payoutsThere: 6 * times,
});
const amounts = { status: 'approved', amount: 900, refundedAmount: 100 };
const difference: Difference = {
  kind: 'differs',
  operation: 'payment',
  token: 'pay_1',
  serviceToken: 's-1',
  currency: 'EUR',
  here: amounts,
  there: { ...amounts, refundedAmount: 0 },
  isSettled: true,
};
const part = (changes: Partial<ReconciledPart> = {}): ReconciledPart => ({
  operation: 'payment',
  counts,
  sums: [sums('EUR')],
  differences: [difference],
  teams: ['shop'],
  ...changes,
});
const request: ReconciliationRequest = {
  token: 'rcn_1',
  environment: 'sandbox',
  account: 'main',
  day: '2026-11-23',
  isDryRun: false,
  by: 'schedule',
  requestedAt: 1,
};

const started: ReconciliationEvent = { type: 'ReconciliationStarted', data: { ...request, startedAt: 2 } };
const compared: ReconciliationEvent = {
  type: 'PageCompared',
  data: { ...part(), pass: 1, page: 1, isLast: true, total: 30, seen: 'abc' },
};
const books: ReconciliationEvent = {
  type: 'BooksCompared',
  data: part({ sums: [sums('USD'), sums('EUR', 10)], teams: ['other', 'shop'] }),
};
const interrupted: ReconciliationEvent = {
  type: 'ReconciliationInterrupted',
  data: { reason: 'timeout', interruptedAt: 3 },
};
const ended = (outcome: 'complete' | 'incomplete' | 'account_unknown' = 'complete'): ReconciliationEvent => ({
  type: 'ReconciliationEnded',
  data: { outcome, team: 'shop', endedAt: 4 },
});

const reportAfter = (...history: readonly ReconciliationEvent[]): ReconciliationReport | undefined =>
  history.reduce<ReconciliationReport | undefined>(evolveReconciliationReport, undefined);

describe('the stored events of a run are read back whole', () => {
  it.each([started, compared, books, interrupted, ended(), ended('incomplete'), ended('account_unknown')])(
    '%j',
    (event) => expect(decodeReconciliationEvent(event)).toEqual(event),
  );

  it.each<ReconciliationJournalEvent>([
    { type: 'ReconciliationRequested', data: { ...request, by: 'person' } },
    {
      type: 'ReconciliationReported',
      data: {
        ...request,
        outcome: 'complete',
        team: 'shop',
        startedAt: 2,
        endedAt: 4,
        counts,
        sums: [sums('EUR')],
      },
    },
  ])('in the journal: %j', (event) => expect(decodeReconciliationJournalEvent(event)).toEqual(event));

  it('under the same stream name as ever', () => {
    expect([reconciliationJournal, reconciliationStream('rcn_1')]).toEqual([
      'reconciliations',
      'reconciliation-rcn_1',
    ]);
    expect(reconciliationTokenPrefix).toBe('rcn');
  });
});

describe('the report', () => {
  it('begins with nothing compared', () => {
    expect(reportAfter(started)).toEqual({
      request,
      startedAt: 2,
      counts: noCounts,
      sums: [],
      differences: [],
      teams: new Set(),
    });
  });

  it('adds up the results of pages and books', () => {
    expect(reportAfter(started, compared, books)).toEqual({
      request,
      startedAt: 2,
      counts: {
        matched: 10,
        differing: 2,
        onlyHere: 4,
        onlyAtService: 8,
        onOtherDays: 16,
        underWay: 32,
      },
      sums: [sums('EUR', 11), sums('USD')],
      differences: [difference, difference],
      teams: new Set(['shop', 'other']),
    });
  });

  it('is unchanged by an interruption, and ends once', () => {
    expect(reportAfter(started, compared, interrupted)).toEqual(reportAfter(started, compared));
    expect(reportAfter(started, ended())).toEqual({
      ...reportAfter(started),
      ended: { outcome: 'complete', team: 'shop', endedAt: 4 },
    });
  });

  it('has no run without its beginning', () => {
    expect(() => reportAfter(ended())).toThrow(
      new RangeError('ReconciliationEnded came before ReconciliationStarted'),
    );
  });
});

describe('sums', () => {
  it('of each currency are separate, in the order of their codes', () => {
    const mixed = [sums('USD'), sums('CHF'), sums('EUR', 2), sums('USD', 2)];
    expect(addSums(mixed)).toEqual([sums('CHF'), sums('EUR', 2), sums('USD', 3)]);
    expect(addSums([])).toEqual([]);
  });

  it('count differing rows and rows of only one side as differences', () => {
    expect(differenceCountOf(counts)).toBe(7);
  });
});
