/** The main flow from outside: a team's HTTP call, the customer on the hosted page, the team's reads, the topic. */
import { eventually } from '@tollgate/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { payOnHostedPage } from '@tollgate/payment-service/customer';
import { type Answer, type PaymentView, type System, startSystem, stopEverything } from './system.ts';
import { recordsOf } from './topic.ts';

const approvedCard = '4392963203551251';
const declinedCard = '4730198364688516';
const authenticatedCard = '4617611794313933';
const authenticatedDeclinedCard = '4626233193837898';

let system: System;
let orders = 0;

beforeAll(async () => {
  // The defaults, shortened: their order matters, not their length.
  const times = {
    PROVIDER_CALL_DEADLINE_MS: '1000',
    PROVIDER_SEND_WITHIN_MS: '1000',
    PROVIDER_QUIET_MS: '500',
  };
  system = await startSystem({ env: times });
});
afterEach(() => system.sandbox('DELETE', '/sandbox/faults'));
afterAll(stopEverything);

function terms(more: Record<string, unknown> = {}) {
  orders += 1;
  return { product: 'Tea', amount: 1250, currency: 'EUR', orderNumber: `order-${orders}`, ...more };
}

async function create(body: Record<string, unknown> = terms()): Promise<Answer> {
  return system.gateway('POST', '/api/v1/payments', { body });
}

async function untilStatus(token: string, status: string): Promise<Answer> {
  return eventually(async () => {
    const answer = await system.gateway('GET', `/api/v1/payments/${token}`);
    expect(answer.body.payment.status).toBe(status);
    return answer;
  });
}

async function historyOf(token: string): Promise<string[]> {
  const answer = await system.gateway('GET', `/api/v1/payments/${token}/events`);
  return answer.body.events.map(({ type }) => type);
}

async function ledgerOf(token: string): Promise<PaymentView[]> {
  const answer = await system.sandbox('GET', '/sandbox/ledger');
  return answer.body.payments.filter(({ orderNumber }: { orderNumber: string }) =>
    orderNumber.startsWith(token),
  );
}

describe('a payment through the hosted page', () => {
  it.each([
    ['is approved', approvedCard, 'approved'],
    ['is declined', declinedCard, 'declined'],
    ['is approved after authentication', authenticatedCard, 'approved'],
    ['is declined after authentication', authenticatedDeclinedCard, 'declined'],
    ['is declined when the customer rejects the authentication', authenticatedCard, 'declined', 'reject'],
  ] as const)('%s', async (_, card, status, answer?: 'reject') => {
    const last = status === 'approved' ? 'PaymentApproved' : 'PaymentDeclined';
    const created = await create();
    expect(created.statusCode).toBe(200);
    const { token, processingUrl } = created.body;
    await payOnHostedPage(system.customer, { processingUrl, card, ...(answer && { answer }) });
    const { body } = await untilStatus(token, status);
    expect(body.payment).toMatchObject({ token, status, phase: status, amount: 1250, currency: 'EUR' });
    const history = await historyOf(token);
    expect(history.slice(0, 2)).toEqual(['PaymentRequested', 'AttemptAccepted']);
    expect(history.at(-1)).toBe(last);
    expect(history.filter((type) => type === last)).toHaveLength(1);
  });

  it('is on the topic with every event once, in order', async () => {
    const { token, processingUrl } = (await create()).body;
    await payOnHostedPage(system.customer, { processingUrl, card: approvedCard });
    await untilStatus(token, 'approved');
    const history = await historyOf(token);
    const records = await recordsOf(system, token, (all) =>
      all.some(({ payment }) => payment.status === 'approved'),
    );
    expect(records.map(({ event }) => event.type)).toEqual(history);
    expect(records.map(({ event }) => event.sequence)).toEqual(history.map((_, index) => index));
    expect(records.at(-1)?.payment).toMatchObject({
      token,
      status: 'approved',
      team: 'demo',
      approvedAmount: 1250,
    });
  });
});

describe("a team's reads", () => {
  it('show a payment at once after its creation, and in lists by status and order number', async () => {
    const body = terms();
    const created = await create(body);
    const { token } = created.body;
    expect((await system.gateway('GET', `/api/v1/payments/${token}`)).body.payment.token).toBe(token);
    const headers = { 'tollgate-min-position': String(created.headers['tollgate-position']) };
    const byOrder = await system.gateway('GET', `/api/v1/payments?orderNumber=${body.orderNumber}`, {
      headers,
    });
    expect(byOrder.body.payments.map(({ token: each }) => each)).toEqual([token]);
    const byStatus = await system.gateway('GET', '/api/v1/payments?status=init&perPage=500', { headers });
    expect(byStatus.body.payments.map(({ token: each }) => each)).toContain(token);
    const otherStatus = await system.gateway('GET', `/api/v1/payments?status=refunded`, { headers });
    expect(otherStatus.body.payments).toEqual([]);
  });
});

describe('a repeated creation', () => {
  it('from many connections at once is executed once, with one answer', async () => {
    const body = terms();
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(body)));
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
    expect(new Set(answers.map((answer) => answer.body.processingUrl)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers['idempotent-replayed'] === 'true')).toHaveLength(19);
    expect(await ledgerOf(answers[0]?.body.token ?? '')).toHaveLength(1);
  });
});

// One lost reply of the service must not keep a customer from the page.
describe('a creation without a usable answer', () => {
  it.each(['lost_reply', 'error_after', 'html_502', 'truncated_json', 'error_before', 'slow_reply'])(
    '%s is followed at once by another page, the only one that is given',
    async (fault) => {
      const delay = fault === 'slow_reply' ? { delayMs: 2_500 } : {};
      await system.sandbox('POST', '/sandbox/faults', [{ operation: 'create', fault, times: 1, ...delay }]);
      const body = terms();
      const first = await create(body);
      expect(first.statusCode).toBe(200);
      const again = await create(body);
      expect(again.headers['idempotent-replayed']).toBe('true');
      const { token, processingUrl } = first.body;
      expect(again.body.processingUrl).toBe(processingUrl);
      const numbers = (await ledgerOf(token)).map(({ orderNumber }) => orderNumber);
      expect(numbers.sort()).toEqual([...(fault === 'error_before' ? [] : [`${token}.1`]), `${token}.2`]);
      await payOnHostedPage(system.customer, { processingUrl, card: approvedCard });
      expect((await untilStatus(token, 'approved')).body.payment).toMatchObject({ reviews: [] });
    },
  );
});

describe('callbacks', () => {
  it('that arrive before the creation is answered do no harm', async () => {
    await system.sandbox('POST', '/sandbox/faults', [
      { operation: 'callback', fault: 'before_reply', times: 1 },
    ]);
    const created = await create();
    expect(created.statusCode).toBe(200);
    const { token, processingUrl } = created.body;
    await payOnHostedPage(system.customer, { processingUrl, card: approvedCard });
    await untilStatus(token, 'approved');
    expect(await ledgerOf(token)).toHaveLength(1);
  });

  it('that are forged are rejected without an outbound call', async () => {
    const { token, processingUrl } = (await create()).body;
    const serviceToken = new URL(processingUrl).pathname.split('/').at(-1);
    // Calls for this payment only: earlier payments may still cause some.
    const callsMade = async () =>
      (await system.sandbox('GET', '/sandbox/ledger')).body.calls.filter(
        (call) => call.token === serviceToken || call.orderNumber?.startsWith(token) === true,
      ).length;
    const before = await callsMade();
    expect(before).toBeGreaterThan(0);
    const forged = `${system.quickstart.callbackUrl}/callbacks/sandbox/${token}/k1.AAAA`;
    const response = await fetch(forged, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ status: 'approved', orderNumber: `${token}.1` }),
    });
    expect(response.status).toBe(404);
    expect((await system.gateway('GET', `/api/v1/payments/${token}`)).body.payment.status).toBe('init');
    expect(await callsMade()).toBe(before);
  });
});
