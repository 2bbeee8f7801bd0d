/**
 * The main claim, in one piece: whatever answers are lost and whenever the process is killed, the service's ledger and the
 * gateway agree in the end, nothing has happened twice, and a person is asked about just what nobody can find out.
 */
import { eventually } from '@tollgate/testing';
import { afterAll, expect, it } from 'vitest';
import {
  type Load,
  ask,
  pay,
  payout,
  persistently,
  refundedPayment,
  runFlows,
  twoStepPayment,
} from './mixed-load.ts';
import { type System, startSystem, stopEverything } from './system.ts';

afterAll(stopEverything);

const times = {
  PROVIDER_CALL_DEADLINE_MS: '1000',
  PROVIDER_SEND_WITHIN_MS: '1000',
  PROVIDER_QUIET_MS: '500',
  // Lost answers are what this is about, not an account that is given a rest.
  PROVIDER_FAILURES_IN_A_ROW: '1000',
};
const connections = 32;
const settleWithinMs = 60_000;
const dayMs = 86_400_000;

const lossy = ['create', 'refund', 'confirm', 'decline', 'payout'];

const loseReplies = (system: System) =>
  system.sandbox(
    'POST',
    '/sandbox/faults',
    lossy.map((operation) => ({
      ...{ operation, fault: 'lost_reply', every: 2 },
    })),
  );

/** Money for the payouts: a large payment, settled. */
async function fund(load: Load): Promise<void> {
  const body = { product: 'Funds', amount: 1_000_000, currency: 'EUR', orderNumber: 'funds' };
  const created = await ask(load, '/api/v1/payments', { body });
  await pay(load, created.body.processingUrl);
  await load.system().sandbox('POST', '/sandbox/clock', { advanceMs: 2 * dayMs });
}

const flowsOf = (load: Load, count: { refunded: number; twoStep: number; payouts: number }) => {
  const times = (length: number, flow: (index: number) => () => Promise<void>) =>
    Array.from({ length }, (_, index) => flow(index));
  const all = [
    ...times(count.refunded, (index) => () => refundedPayment(load, `refunded-${index}`)),
    ...times(
      count.twoStep,
      (index) => () => twoStepPayment(load, `two-step-${index}`, index % 3 === 0 ? 'decline' : 'confirm'),
    ),
    ...times(count.payouts, (index) => () => payout(load, `payout-${index}`)),
  ];
  // All kinds at the same time: every third of each, then the next.
  return all
    .map((flow, index) => ({ flow, at: index % 17 }))
    .sort((a, b) => a.at - b.at)
    .map(({ flow }) => flow);
};

interface LedgerPayment {
  token: string;
  orderNumber: string;
  status: string;
  amount: number;
  refundedAmount: number;
}
interface Ledger {
  payments: LedgerPayment[];
  refunds: { paymentToken: string; amount: number; status: string }[];
  payouts: { orderNumber: string; amount: number; status: string }[];
  calls: { operation: string; token?: string; orderNumber?: string; answer: string }[];
}

interface AttentionItem {
  token: string;
  code: string;
}

interface GatewayPayment {
  token: string;
  status: string;
  phase: string;
  refundedAmount: number;
  refunds: { amount: number; phase: string }[];
}

const ledgerOf = async (system: System): Promise<Ledger> =>
  (await system.sandbox('GET', '/sandbox/ledger')).body as unknown as Ledger;

async function countLost(system: System, operation: string): Promise<number> {
  const { calls } = await ledgerOf(system);
  return calls.filter((call) => call.operation === operation && call.answer === 'lost_reply').length;
}

async function attentionOf(system: System): Promise<AttentionItem[]> {
  const { statusCode, body } = await system.gateway('GET', '/api/v1/attention?perPage=500');
  expect(statusCode).toBe(200);
  return (body as unknown as { attention: AttentionItem[] }).attention;
}

async function historyOf(
  system: System,
  { token, kind }: { token: string; kind: string },
): Promise<string[]> {
  const { body } = await system.gateway('GET', `/api/v1/${kind}s/${token}/events`);
  return body.events.map(({ type }) => type);
}

const countOf = (all: readonly string[], type: string): number => all.filter((each) => each === type).length;

/** What the ledger holds for a payment of ours: one at most, whatever happened on the way. */
function onlyOne(ledger: Ledger, token: string): LedgerPayment | undefined {
  const found = ledger.payments.filter(({ orderNumber }) => orderNumber.startsWith(`${token}.`));
  expect(found.length, token).toBeLessThanOrEqual(1);
  return found[0];
}

async function expectPaymentAgrees(system: System, ledger: Ledger, token: string): Promise<string[]> {
  const { payment } = (await system.gateway('GET', `/api/v1/payments/${token}`)).body as unknown as {
    payment: GatewayPayment;
  };
  const there = onlyOne(ledger, token);
  if (there === undefined) throw new Error(`${token} is not in the ledger`);
  expect(payment, token).toMatchObject({ status: there.status, refundedAmount: there.refundedAmount });
  const refunds = ledger.refunds.filter(({ paymentToken }) => paymentToken === there.token);
  const approved = payment.refunds.filter(({ phase }) => phase === 'approved');
  expect(approved.map(({ amount }) => amount).sort()).toEqual(refunds.map(({ amount }) => amount).sort());
  const history = await historyOf(system, { token, kind: 'payment' });
  const calls = ledger.calls.filter((call) => call.token === there.token);
  // No call without its announcement.
  for (const [operation, announcement] of [
    ['refund', 'RefundSubmitted'],
    ['confirm', 'ConfirmationSubmitted'],
    ['decline', 'DeclineSubmitted'],
  ] as const) {
    const made = calls.filter((call) => call.operation === operation).length;
    expect(made, `${token} ${operation}`).toBeLessThanOrEqual(countOf(history, announcement));
  }
  // What was announced and never came to the service, nobody can tell from what came and failed.
  return payment.refunds.filter(({ phase }) => phase !== 'approved' && phase !== 'declined').map(() => token);
}

/** @returns what a person has to find out: a payout that was announced and is not there, unless it was provably not sent */
async function expectPayoutAgrees(system: System, ledger: Ledger, token: string): Promise<string[]> {
  const { body } = await system.gateway('GET', `/api/v1/payouts/${token}`);
  const { payout: shown } = body as unknown as { payout: { status: string } };
  const made = ledger.payouts.filter(({ orderNumber }) => orderNumber.startsWith(`${token}.`));
  expect(made.length, token).toBeLessThanOrEqual(1);
  if (made[0] !== undefined) {
    expect(shown.status, token).toBe(made[0].status);
    return [];
  }
  const history = await historyOf(system, { token, kind: 'payout' });
  return history.includes('PayoutNotSent') ? [] : [token];
}

async function expectAgreement(system: System, load: Load): Promise<void> {
  await system.sandbox('DELETE', '/sandbox/faults');
  const ledger = await ledgerOf(system);
  const undecidable: string[] = [];
  for (const { token, kind } of load.outcomes) {
    if (kind === 'payment') undecidable.push(...(await expectPaymentAgrees(system, ledger, token)));
    else undecidable.push(...(await expectPayoutAgrees(system, ledger, token)));
  }
  const waiting = (await attentionOf(system)).map(({ token }) => token);
  expect(waiting.sort()).toEqual(undecidable.sort());
  const announced = ledger.calls.flatMap(({ operation, orderNumber }) =>
    operation === 'create' || operation === 'payout' ? [`${operation} ${orderNumber ?? ''}`] : [],
  );
  expect(new Set(announced).size, 'each creation and payout was sent once').toBe(announced.length);
}

const newLoad = (system: () => System): Load => ({ system, answered: 0, outcomes: [], contradictions: [] });

it(
  'with every second answer lost, a thousand mixed requests end in agreement',
  { timeout: 240_000 },
  async () => {
    const system = await startSystem({ env: times });
    const load = newLoad(() => system);
    await fund(load);
    await loseReplies(system);
    await runFlows(flowsOf(load, { refunded: 90, twoStep: 90, payouts: 60 }), connections);
    expect(load.answered).toBeGreaterThan(1_000);
    expect(load.contradictions).toEqual([]);
    // A test in which hardly an answer is lost would prove little.
    for (const operation of lossy)
      expect(await countLost(system, operation), `lost answers to ${operation}`).toBeGreaterThan(10);
    await eventually(() => expectAgreement(system, load), { timeoutMs: settleWithinMs });
    // Nothing was cut off, so everything could be found out.
    expect(await attentionOf(system)).toEqual([]);
  },
);

it('of fifty concurrent refunds of 60 on a payment of 100, one succeeds', { timeout: 120_000 }, async () => {
  const system = await startSystem({ env: times });
  const load = newLoad(() => system);
  const body = { product: 'Tea', amount: 100, currency: 'EUR', orderNumber: 'fifty' };
  const { token, processingUrl } = (await ask(load, '/api/v1/payments', { body })).body;
  await pay(load, processingUrl);
  await eventually(async () => {
    expect((await system.gateway('GET', `/api/v1/payments/${token}`)).body.payment.phase).toBe('approved');
  });
  await system.sandbox('POST', '/sandbox/faults', [{ operation: 'refund', fault: 'lost_reply', times: 1 }]);
  const refunds = Array.from({ length: 50 }, (_, index) => {
    const headers = { 'idempotency-key': `fifty-${index}` };
    return system.gateway('POST', '/api/v1/refunds', { body: { token, amount: 60 }, headers });
  });
  const answers = await Promise.all(refunds);
  const taken = answers.filter(({ statusCode }) => statusCode < 300);
  expect(taken).toHaveLength(1);
  for (const { statusCode, body: refused } of answers.filter((each) => !taken.includes(each))) {
    expect(statusCode).toBe(409);
    expect(['refund_exceeds_amount', 'operation_in_progress']).toContain(refused.errors[0]?.code);
  }
  await eventually(async () => {
    const { refunds: made } = await ledgerOf(system);
    expect(made.map(({ amount }) => amount)).toEqual([60]);
    const { payment } = (await system.gateway('GET', `/api/v1/payments/${token}`)).body;
    expect(payment).toMatchObject({ status: 'approved', refundedAmount: 60 });
  });
});

it('the same, killed twice in the middle', { timeout: 300_000 }, async () => {
  let system = await startSystem({ env: times });
  const load = newLoad(() => system);
  await fund(load);
  await loseReplies(system);
  const running = runFlows(flowsOf(load, { refunded: 60, twoStep: 60, payouts: 40 }), connections);
  for (const answeredBefore of [150, 400]) {
    await eventually(async () => expect(load.answered).toBeGreaterThan(answeredBefore), {
      timeoutMs: settleWithinMs,
    });
    await system.kill();
    system = await system.restart();
    await persistently(() => loseReplies(system));
  }
  await running;
  expect(load.contradictions).toEqual([]);
  await eventually(() => expectAgreement(system, load), { timeoutMs: settleWithinMs });
});

it('the same on two gateways side by side, one of which is killed', { timeout: 300_000 }, async () => {
  const first = await startSystem({ env: times });
  let second = await first.startBeside('second');
  let turn = 0;
  // Every repeat goes to the other one.
  const load = newLoad(() => ((turn += 1) % 2 === 0 ? first : second));
  await fund(load);
  await loseReplies(first);
  const running = runFlows(flowsOf(load, { refunded: 60, twoStep: 60, payouts: 40 }), connections);
  await eventually(async () => expect(load.answered).toBeGreaterThan(300), { timeoutMs: settleWithinMs });
  await second.kill();
  second = await second.restart();
  await running;
  expect(load.contradictions).toEqual([]);
  await eventually(() => expectAgreement(first, load), { timeoutMs: settleWithinMs });
  await second.terminate();
});

it(
  'what nobody can find out comes before a person, and ends with what the person says',
  { timeout: 120_000 },
  async () => {
    const system = await startSystem({ env: times });
    const load = newLoad(() => system);
    await fund(load);
    const body = { product: 'Tea', amount: 100, currency: 'EUR', orderNumber: 'doubtful' };
    const { token, processingUrl } = (await ask(load, '/api/v1/payments', { body })).body;
    await pay(load, processingUrl);
    await eventually(async () => {
      expect((await system.gateway('GET', `/api/v1/payments/${token}`)).body.payment.phase).toBe('approved');
    });
    // Neither takes effect, and the answers do not tell.
    const faults = ['refund', 'payout'].map((operation) => ({ operation, fault: 'error_before', times: 1 }));
    await system.sandbox('POST', '/sandbox/faults', faults);
    const refund = { body: { token, amount: 30 }, headers: { 'idempotency-key': 'doubtful' } };
    expect((await system.gateway('POST', '/api/v1/refunds', refund)).statusCode).toBe(202);
    const destination = { bankAccount: { bankName: 'A bank', account: 'DE02120300000000202051' } };
    const wanted = { amount: 7, currency: 'EUR', orderNumber: 'doubtful', destination };
    const paidOut = await system.gateway('POST', '/api/v1/payouts', { body: wanted });
    expect(paidOut.statusCode).toBe(202);
    await eventually(
      async () => {
        const waiting = (await attentionOf(system)).map(({ token: of, code }) => `${of} ${code}`);
        expect(waiting.sort()).toEqual(
          [`${token} refund_unresolved`, `${paidOut.body.token} payout_not_found`].sort(),
        );
      },
      { timeoutMs: settleWithinMs },
    );
    // Its amount stays reserved, and no other refund is begun.
    const other = { body: { token, amount: 10 }, headers: { 'idempotency-key': 'another' } };
    const refused = await system.gateway('POST', '/api/v1/refunds', other);
    expect(refused.statusCode).toBe(409);
    expect(refused.body.errors[0]?.code).toBe('operation_in_progress');

    const resolve = (of: string, code: string, resolution: string) =>
      system.gateway('POST', `/api/v1/attention/${of}/resolve`, {
        body: { code, number: 1, resolution, reason: 'looked it up in the console of the service' },
      });
    expect((await resolve(token, 'refund_unresolved', 'refund_not_made')).statusCode).toBe(200);
    expect((await resolve(paidOut.body.token, 'payout_not_found', 'payout_not_made')).statusCode).toBe(200);
    await eventually(async () => expect(await attentionOf(system)).toEqual([]));
    const after = await system.gateway('POST', '/api/v1/refunds', other);
    expect(after.statusCode).toBe(200);
    expect((await ledgerOf(system)).refunds.map(({ amount }) => amount)).toEqual([10]);
    expect((await ledgerOf(system)).payouts).toEqual([]);
  },
);
