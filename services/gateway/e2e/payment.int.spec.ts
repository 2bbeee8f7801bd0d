/** The main job from outside: a team's HTTP call, the customer on the hosted page, the team's reading, the topic. */
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
    { name: 'is approved', card: approvedCard, status: 'approved', last: 'PaymentApproved' },
    { name: 'is declined', card: declinedCard, status: 'declined', last: 'PaymentDeclined' },
    {
      name: 'is approved after authentication',
      card: authenticatedCard,
      status: 'approved',
      last: 'PaymentApproved',
    },
    {
      name: 'is declined after authentication',
      card: authenticatedDeclinedCard,
      status: 'declined',
      last: 'PaymentDeclined',
    },
    {
      name: 'is declined when the customer rejects the authentication',
      ...{ card: authenticatedCard, answer: 'reject' as const, status: 'declined', last: 'PaymentDeclined' },
    },
  ])('$name', async ({ card, status, last, ...rest }) => {
    const created = await create();
    expect(created.statusCode).toBe(200);
    const { token, processingUrl } = created.body;
    await payOnHostedPage(system.customer, { processingUrl, card, ...rest });
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

  it('sends the customer back to the shop', async () => {
    const redirects = {
      redirectSuccessUrl: 'https://shop.example/thanks',
      redirectFailUrl: 'https://shop.example/sorry',
    };
    const paid = (await create(terms(redirects))).body;
    const options = { processingUrl: paid.processingUrl, card: approvedCard };
    expect(await payOnHostedPage(system.customer, options)).toBe('https://shop.example/thanks');
    const failed = (await create(terms(redirects))).body;
    const declined = { processingUrl: failed.processingUrl, card: declinedCard };
    expect(await payOnHostedPage(system.customer, declined)).toBe('https://shop.example/sorry');
  });

  it('is authorized where the team wants two steps', async () => {
    const { token, processingUrl } = (await create(terms({ needConfirmation: true }))).body;
    await payOnHostedPage(system.customer, { processingUrl, card: approvedCard });
    await eventually(async () => {
      const { body } = await system.gateway('GET', `/api/v1/payments/${token}`);
      expect(body.payment).toMatchObject({ status: 'pending', phase: 'authorized', heldAmount: 1250 });
    });
  });
});

describe('what a team reads', () => {
  it('a payment at once after its creation, and in lists by status and order number', async () => {
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
  it('from many connections at once is carried out once, with one answer', async () => {
    const body = terms();
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(body)));
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
    expect(new Set(answers.map((answer) => answer.body.processingUrl)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers['idempotent-replayed'] === 'true')).toHaveLength(19);
    expect(await ledgerOf(answers[0]?.body.token ?? '')).toHaveLength(1);
  });

  it('with another amount is refused and changes nothing', async () => {
    const body = terms();
    const { token } = (await create(body)).body;
    const again = await create({ ...body, amount: 9999 });
    expect(again.statusCode).toBe(422);
    expect(again.body.errors).toMatchObject([{ code: 'idempotency_key_reused', parameter: 'orderNumber' }]);
    expect(await ledgerOf(token)).toHaveLength(1);
    expect(await historyOf(token)).toEqual(['PaymentRequested', 'AttemptAccepted']);
  });
});

// The story: one lost reply of the service kept a customer from the page for 65 seconds.
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
  it('that come twice leave one event each', async () => {
    await system.sandbox('POST', '/sandbox/faults', [
      { operation: 'callback', fault: 'duplicate', times: 5 },
    ]);
    const { token, processingUrl } = (await create()).body;
    await payOnHostedPage(system.customer, { processingUrl, card: approvedCard });
    await untilStatus(token, 'approved');
    const history = await historyOf(token);
    expect(new Set(history).size).toBe(history.length);
    expect(history.at(-1)).toBe('PaymentApproved');
  });

  it('that come before the creation is answered do no harm', async () => {
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

  it('that are forged are turned away and cost no call', async () => {
    const { token, processingUrl } = (await create()).body;
    const serviceToken = new URL(processingUrl).pathname.split('/').at(-1);
    // Of this payment: what an earlier one has set off may still be under way.
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

describe('what is refused', () => {
  it.each([
    { name: 'no key', headers: { authorization: '' }, code: 'auth_header_not_found', statusCode: 401 },
    {
      name: 'a wrong key',
      headers: { authorization: 'Bearer tg_sandbox_x_yyyyyyyyyyyyyyyyyyyy' },
      code: 'incorrect_private_key',
      statusCode: 401,
    },
    {
      name: 'an amount of zero',
      body: { amount: 0 },
      code: 'incorrect_amount',
      parameter: 'amount',
      statusCode: 400,
    },
    {
      name: 'an unknown currency',
      body: { currency: 'EURO' },
      code: 'incorrect_currency',
      parameter: 'currency',
      statusCode: 400,
    },
    {
      name: 'an unknown field',
      body: { colour: 'red' },
      code: 'invalid_param',
      parameter: 'colour',
      statusCode: 400,
    },
    {
      name: 'a card',
      body: { card: { pan: '4392963203551251' } },
      code: 'card_data_not_accepted',
      parameter: 'card',
      statusCode: 400,
    },
    {
      name: 'a card number in a text',
      body: { product: 'card 4392 9632 0355 1251' },
      code: 'card_data_not_accepted',
      parameter: 'product',
      statusCode: 400,
    },
    {
      name: 'neither key nor order number',
      body: { orderNumber: undefined },
      code: 'idempotency_key_missing',
      parameter: 'Idempotency-Key',
      statusCode: 400,
    },
  ])('$name', async ({ headers, body, code, parameter, statusCode }) => {
    const answer = await system.gateway('POST', '/api/v1/payments', {
      body: { ...terms(), ...body },
      ...(headers === undefined ? {} : { headers }),
    });
    expect(answer.statusCode).toBe(statusCode);
    expect(answer.body.success).toBe(false);
    expect(answer.body.errors).toMatchObject([{ code, ...(parameter === undefined ? {} : { parameter }) }]);
  });
});
