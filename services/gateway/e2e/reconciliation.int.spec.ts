/**
 * A refund made in the service's console, and a final status that the service revised while the callback was lost: only
 * reconciliation finds them.
 */
import { eventually } from '@tollgate/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { shortTimes } from './agreement.ts';
import { issueKey, operatorOf, tollgateExit } from './commands.ts';
import { read, serviceTokenOf } from './ledger.ts';
import { type CallGateway, type System, startSystem, stopEverything } from './system.ts';

const settled = { timeoutMs: 20_000 };
let system: System;
let gateway: CallGateway;

beforeAll(async () => {
  system = await startSystem({ env: shortTimes });
  gateway = system.gatewayAs(await issueKey(system, 'demo', 'payments,read,cards,stored-cards,admin'));
  await eventually(
    async () => expect((await gateway('GET', '/api/v1/payments')).statusCode).toBe(200),
    settled,
  );
}, 120_000);
afterAll(stopEverything);

async function paid(orderNumber: string): Promise<string> {
  const card = { pan: '4392963203551251', expires: '12/2039', holder: 'Ada Lovelace', cvv: '123' };
  const terms = { product: 'Tea', amount: 1_000, currency: 'EUR', orderNumber };
  const { body } = await gateway('POST', '/api/v1/payments', { body: { ...terms, card } });
  await eventually(
    async () => expect(await read(gateway, 'payment', body.token)).toMatchObject({ status: 'approved' }),
    settled,
  );
  return body.token;
}

const today = new Date().toISOString().slice(0, 10);
const reconcile = (...more: string[]) =>
  tollgateExit(
    system,
    'reconcile',
    '--account',
    'sandbox',
    ...more,
    '--environment',
    'sandbox',
    '--from',
    today,
  );

async function reconciliations(): Promise<{ token: string; isDryRun: boolean; by: string }[]> {
  const { body } = await gateway('GET', '/api/v1/reconciliations');
  return (body as unknown as { reconciliations: Awaited<ReturnType<typeof reconciliations>> })
    .reconciliations;
}

interface Run {
  counts: Record<string, number>;
  differences: { kind: string; token?: string; isSettled: boolean }[];
}
const resultOf = ({ stdout }: { stdout: string }) => (JSON.parse(stdout) as Run[])[0]!;

it('finds all changes without a callback in one run', { timeout: 120_000 }, async () => {
  // Today's run after each start; the next one is in an hour.
  await eventually(
    async () => expect((await reconciliations()).map(({ by }) => by)).toContain('schedule'),
    settled,
  );
  // Registered first: a late callback would cause inquiries about everything.
  await system.sandbox('POST', '/sandbox/faults', [{ operation: 'callback', fault: 'drop' }]);
  const [refunded, revised, untouched] = [
    await paid('order-1'),
    await paid('order-2'),
    await paid('order-3'),
  ];
  const refund = { token: await serviceTokenOf(system.sandbox, refunded), amount: 400 };
  expect((await system.sandbox('POST', '/api/v1/refunds', refund)).statusCode).toBe(200);
  const serviceToken = await serviceTokenOf(system.sandbox, revised);
  await system.sandbox('POST', `/sandbox/payments/${serviceToken}/revise`, { status: 'declined' });
  const elsewhere = { product: 'Old', amount: 700, currency: 'EUR', orderNumber: 'elsewhere-1' };
  const callbackUrl = 'https://old-shop.example/callbacks';
  expect((await system.sandbox('POST', '/api/v1/payments', { ...elsewhere, callbackUrl })).statusCode).toBe(
    200,
  );

  // Very recent payments may be in progress.
  await eventually(async () => {
    const dry = await reconcile('--dry-run', '--json');
    expect([dry.exitCode, resultOf(dry).counts]).toMatchObject([1, { differing: 2, onlyAtService: 1 }]);
  }, settled);
  expect(await read(gateway, 'payment', refunded)).toMatchObject({ refundedAmount: 0 });

  const found = await reconcile('--json');
  const { counts, differences } = resultOf(found);
  expect([found.exitCode, counts]).toMatchObject([1, { matched: 1, differing: 2, onlyAtService: 1 }]);
  expect(differences.map(({ token }) => token)).not.toContain(untouched);
  expect(differences.every(({ isSettled }) => isSettled)).toBe(true);
  await eventually(async () => {
    expect(await read(gateway, 'payment', refunded)).toMatchObject({ refundedAmount: 400 });
    expect(await read(gateway, 'payment', revised)).toMatchObject({
      status: 'approved',
      reviews: [{ code: 'discrepancy', evidence: { kind: 'final_status_revised' } }],
    });
  }, settled);

  await eventually(async () => {
    const { reviews } = (await gateway('GET', '/api/v1/reviews')).body as unknown as {
      reviews: { kind: string; token: string; code: string; number: number; orderNumber: string }[];
    };
    const unmatched = reviews.find(({ kind }) => kind === 'unmatched');
    expect(unmatched).toMatchObject({ code: 'discrepancy', orderNumber: 'elsewhere-1', amount: 700 });
    const { token, code, number } = unmatched!;
    const body = { code, number, resolution: 'keep_ours', reason: 'made by the old shop' };
    expect((await gateway('POST', `/api/v1/reviews/${token}/resolve`, { body })).statusCode).toBe(200);
    const accepted = { code, number: 1, resolution: 'accept_theirs', reason: 'the bank has declined it' };
    const headers = { 'tollgate-team': 'demo', 'tollgate-environment': 'sandbox' };
    const ada = await operatorOf(system, 'ada@company.example');
    expect(
      (await ada('POST', `/api/v1/reviews/${revised}/resolve`, { headers, body: accepted })).statusCode,
    ).toBe(200);
  }, settled);

  const again = await reconcile();
  expect(again).toMatchObject({ exitCode: 0, stderr: '' });
  expect(again.stdout).toMatch(/matched +4\n/);
  const listed = await reconciliations();
  expect(listed.slice(0, 3)).toMatchObject([
    { by: 'person', isDryRun: false },
    { by: 'person', isDryRun: false },
    { by: 'person', isDryRun: true },
  ]);
  const { token } = listed[1]!;
  const csv = await gateway('GET', `/api/v1/reconciliations/${token}/differences.csv`);
  expect(csv.statusCode).toBe(200);
  expect(await system.metrics()).toContain('tollgate_reconciliation_differences{environment="sandbox"');
});
