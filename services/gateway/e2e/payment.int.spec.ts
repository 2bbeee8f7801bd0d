/** The main flow from outside: a team's HTTP call, the customer on the hosted page, the team's reads. */
import { eventually } from '@tollgate/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { payOnHostedPage } from '@tollgate/payment-service/customer';
import { type Answer, type PaymentView, type System, startSystem, stopEverything } from './system.ts';

const approvedCard = '4392963203551251';
const declinedCard = '4730198364688516';
const authenticatedCard = '4617611794313933';
const authenticatedDeclinedCard = '4626233193837898';

let system: System;
let orders = 0;

beforeAll(async () => {
  system = await startSystem();
});
afterAll(stopEverything);

function terms() {
  orders += 1;
  return { product: 'Tea', amount: 1250, currency: 'EUR', orderNumber: `order-${orders}` };
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
