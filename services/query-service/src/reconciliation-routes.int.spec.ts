import { randomUUID } from 'node:crypto';
import type { EventStore } from '@tollgate/event-store';
import {
  noCounts,
  reconciliationJournal,
  reconciliationStream,
  type Difference,
  type ReconciliationSummary,
} from '@tollgate/reconciliation';
import { describe, expect, test } from 'vitest';
import { adminOnly, errorsOf, start } from './testing/harness.ts';

const startedAt = Date.UTC(2026, 10, 2, 6);
const sums = {
  currency: 'EUR',
  paymentsHere: 900,
  paymentsThere: 900,
  refundsHere: 0,
  refundsThere: 40,
  payoutsHere: 0,
  payoutsThere: 0,
};
const differing: Difference = {
  kind: 'differs',
  operation: 'payment',
  token: 'pay_1',
  serviceToken: '=1+1',
  currency: 'EUR',
  here: { status: 'approved', amount: 900, refundedAmount: 0 },
  there: { status: 'approved', amount: 900, refundedAmount: 40 },
  isSettled: true,
};
const onlyThere: Difference = {
  kind: 'only_at_service',
  operation: 'payout',
  serviceToken: 'service-2',
  currency: 'EUR',
  there: { status: 'approved', amount: 5, refundedAmount: 0 },
  isSettled: true,
};
const counts = { ...noCounts, matched: 7, differing: 1, onlyAtService: 1 };

const summaryOf = (token: string, changes: Partial<ReconciliationSummary> = {}): ReconciliationSummary => ({
  token,
  environment: 'sandbox',
  account: 'main',
  day: '2026-11-01',
  isDryRun: false,
  by: 'schedule',
  requestedAt: startedAt,
  startedAt,
  endedAt: startedAt + 1_000,
  outcome: 'complete',
  team: 'desk',
  counts,
  sums: [sums],
  ...changes,
});

const append = (store: EventStore, stream: string, type: string, data: unknown) =>
  store.append(stream, [{ id: randomUUID(), type, data, metadata: {} }], 'any');

/** A run that has ended, in its stream and in the journal. */
async function ended(store: EventStore, summary: ReconciliationSummary): Promise<void> {
  const { outcome, team, endedAt, counts: counted, sums: summed, ...request } = summary;
  const stream = reconciliationStream(summary.token);
  await append(store, reconciliationJournal, 'ReconciliationRequested', request);
  await append(store, stream, 'ReconciliationStarted', request);
  await append(store, stream, 'BooksCompared', {
    operation: 'payment',
    counts: counted,
    sums: summed,
    differences: [differing, onlyThere],
    teams: [],
  });
  await append(store, stream, 'ReconciliationEnded', {
    outcome,
    endedAt,
    ...(team === undefined ? {} : { team }),
  });
  await append(store, reconciliationJournal, 'ReconciliationReported', summary);
}

async function startWith(...summaries: ReconciliationSummary[]) {
  const services = await start();
  for (const summary of summaries) await ended(services.store, summary);
  return { ...services, get: services.getAs(adminOnly) };
}

const shown = {
  token: 'rcn_1',
  account: 'main',
  day: '2026-11-01',
  isDryRun: false,
  by: 'schedule',
  outcome: 'complete',
  startedAt: '2026-11-02T06:00:00.000Z',
  endedAt: '2026-11-02T06:00:01.000Z',
  counts,
  sums: [sums],
};

describe('reconciliations', () => {
  test('are empty before the first one', async () => {
    const { get } = await startWith();
    expect((await get('/api/v1/reconciliations')).json()).toEqual({
      success: true,
      reconciliations: [],
      perPage: 20,
    });
  });

  test('are listed newest first, and continued by cursor', async () => {
    const { get } = await startWith(summaryOf('rcn_1'), summaryOf('rcn_2'), summaryOf('rcn_3'));
    const first = (await get('/api/v1/reconciliations?perPage=2')).json<{ nextCursor: string }>();
    expect(first).toMatchObject({ reconciliations: [{ token: 'rcn_3' }, { token: 'rcn_2' }], perPage: 2 });
    const second = (await get(`/api/v1/reconciliations?perPage=2&cursor=${first.nextCursor}`)).json();
    expect(second).toMatchObject({ reconciliations: [shown] });
  });

  test.each(['x', '-1', '1.5'])('have no cursor %j', async (cursor) => {
    const { get } = await startWith(summaryOf('rcn_1'));
    const answer = await get(`/api/v1/reconciliations?cursor=${cursor}`);
    expect(errorsOf(answer)).toMatchObject({ errors: [{ code: 'invalid_param', parameter: 'cursor' }] });
  });
});

describe('a reconciliation', () => {
  test('is shown with its differences', async () => {
    const { get } = await startWith(summaryOf('rcn_1'));
    expect((await get('/api/v1/reconciliations/rcn_1')).json()).toEqual({
      success: true,
      reconciliation: { ...shown, differences: [differing, onlyThere] },
    });
  });

  test('is exported line by line, without formulas', async () => {
    const { get } = await startWith(summaryOf('rcn_1'));
    const { headers, body } = await get('/api/v1/reconciliations/rcn_1/differences.csv');
    expect(headers['content-type']).toMatch(/^text\/csv/);
    expect(body.replace('\uFEFF', '').split('\r\n')).toEqual([
      'kind,operation,token,serviceToken,currency,statusHere,amountHere,refundedAmountHere,statusThere,amountThere,refundedAmountThere,isSettled',
      "differs,payment,pay_1,'=1+1,EUR,approved,900,0,approved,900,40,true",
      'only_at_service,payout,,service-2,EUR,,,,approved,5,0,true',
      '',
    ]);
  });

  // Its sums and differences are of objects that another team may own.
  test.each([
    ['of another team', { team: 'games' }],
    ['of several teams', { team: undefined }],
    ['of another environment', { environment: 'production' as const }],
  ])('%s does not exist', async (_, changes) => {
    const { get } = await startWith(summaryOf('rcn_1', changes));
    expect((await get('/api/v1/reconciliations')).json()).toMatchObject({ reconciliations: [] });
    for (const url of ['/rcn_1', '/rcn_1/differences.csv', '/rcn_2', '/..%2Fx']) {
      const answer = await get(`/api/v1/reconciliations${url}`);
      expect([answer.statusCode, errorsOf(answer)]).toMatchObject([
        404,
        { errors: [{ code: 'reconciliation_not_found' }] },
      ]);
    }
  });
});
