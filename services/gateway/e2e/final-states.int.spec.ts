/** Changes at the Payment Service after a payment has ended: revised final states, and disputes. */
import { minuteMs } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueKey, operatorOf } from './commands.ts';
import { reviewsOf, hint, historyOf, ledgerOf, read, serviceTokenOf, typesOf } from './ledger.ts';
import { type CallGateway, type System, startSystem, stopEverything } from './system.ts';

const approvedCard = '4392963203551251';
const declinedCard = '4730198364688516';
const settled = { timeoutMs: 20_000 };

let system: System;
/** Calls of the demo team, with a key that may send cards. */
let gateway: CallGateway;
/** Calls of an operator. */
let operator: CallGateway;
/** Calls of another team. */
let games: CallGateway;
let orders = 0;

beforeAll(async () => {
  system = await startSystem();
  const scopes = 'payments,refunds,read,cards,stored-cards,admin';
  gateway = system.gatewayAs(await issueKey(system, 'demo', scopes));
  games = system.gatewayAs(await issueKey(system, 'games', scopes));
  operator = await operatorOf(system, 'ada@company.example');
  for (const call of [gateway, games])
    await eventually(
      async () => expect((await call('GET', '/api/v1/payments')).statusCode).toBe(200),
      settled,
    );
}, 120_000);
afterAll(stopEverything);

const amount = 1_000;
const terms = () => {
  orders += 1;
  return { product: 'Tea', amount, currency: 'EUR', orderNumber: `final-${orders}` };
};

async function pay(pan: string, status: string, team = gateway): Promise<string> {
  const card = { pan, expires: '12/2039', holder: 'Ada Lovelace', cvv: '123' };
  const { body } = await team('POST', '/api/v1/payments', { body: { ...terms(), card } });
  await untilShown(body.token, { status }, team);
  return body.token;
}

async function expiredPayment(): Promise<string> {
  const { token } = (await gateway('POST', '/api/v1/payments', { body: terms() })).body;
  await system.sandbox('POST', '/sandbox/clock', { advanceMs: 31 * minuteMs });
  await untilShown(token, { status: 'expired' });
  return token;
}

const untilShown = (token: string, expected: object, team = gateway) =>
  eventually(async () => expect(await read(team, 'payment', token)).toMatchObject(expected), settled);

/** An operator's action in the service's console. */
async function revise(token: string, revision: { status: string; amount?: number }): Promise<void> {
  const serviceToken = await serviceTokenOf(system.sandbox, token);
  const answer = await system.sandbox('POST', `/sandbox/payments/${serviceToken}/revise`, revision);
  expect(answer.statusCode).toBe(200);
}

const code = 'discrepancy';
const untilRaised = (token: string) =>
  eventually(async () => expect(await reviewsOf(gateway, token)).toEqual([code]), settled);

/** Resolves the open review, by the number that the payment shows. */
async function acceptTheirs(token: string) {
  const { payment } = (await gateway('GET', `/api/v1/payments/${token}`)).body as unknown as {
    payment: { reviews: { code: string; number: number }[] };
  };
  const number = payment.reviews.find((open) => open.code === code)?.number ?? 1;
  return operator('POST', `/api/v1/reviews/${token}/resolve`, {
    headers: { 'tollgate-team': 'demo', 'tollgate-environment': 'sandbox' },
    body: { code, number, resolution: 'accept_theirs', reason: 'agreed with the service on the telephone' },
  });
}

const refund = (token: string, key: string, refunded: number) =>
  gateway('POST', '/api/v1/refunds', {
    body: { token, amount: refunded },
    headers: { 'idempotency-key': key },
  });

/** Resolves when the gateway has inquired and recorded the result. */
async function inquireAgain(token: string): Promise<void> {
  const serviceToken = await serviceTokenOf(system.sandbox, token);
  const countInquiries = async () => {
    const { calls } = await ledgerOf(system.sandbox, `${token}.`);
    return calls.filter((call) => call.operation === 'get' && call.token === serviceToken).length;
  };
  // Inquiries about one payment do not overlap: when a second one begins, the first has ended.
  for (let hints = 0; hints < 2; hints += 1) {
    const before = await countInquiries();
    await hint(system, token);
    await eventually(async () => expect(await countInquiries()).toBeGreaterThan(before), settled);
  }
}

interface Revision {
  name: string;
  made: () => Promise<string>;
  from: string;
  to: string;
  /** Set if the provider shows another amount. */
  newAmount?: number;
  isFollowed: boolean;
}

const revisions: Revision[] = [
  {
    name: 'declined',
    made: () => pay(declinedCard, 'declined'),
    from: 'declined',
    to: 'approved',
    isFollowed: true,
  },
  { name: 'expired', made: expiredPayment, from: 'expired', to: 'approved', isFollowed: true },
  {
    name: 'declined, now with another amount',
    made: () => pay(declinedCard, 'declined'),
    from: 'declined',
    to: 'approved',
    newAmount: 900,
    isFollowed: false,
  },
  {
    name: 'approved',
    made: () => pay(approvedCard, 'approved'),
    from: 'approved',
    to: 'declined',
    isFollowed: false,
  },
];

describe('a final status that the provider revises', { timeout: 60_000 }, () => {
  it.each(revisions)(
    'is followed by an unpaid payment, else when a person accepts it: $name, to $to',
    async ({ made, from, to, newAmount, isFollowed }) => {
      const token = await made();
      const before = await historyOf(gateway, 'payment', token);
      await revise(token, { status: to, ...(newAmount !== undefined && { amount: newAmount }) });
      if (!isFollowed) {
        await untilRaised(token);
        const evidence = {
          kind: 'final_status_revised',
          status: from,
          observedStatus: to,
          observedAmount: String(newAmount ?? amount),
        };
        expect(await read(gateway, 'payment', token)).toMatchObject({
          status: from,
          reviews: [{ code, evidence }],
        });
        expect((await acceptTheirs(token)).statusCode).toBe(200);
      }
      const approvedAmount = to === 'approved' ? (newAmount ?? amount) : 0;
      await untilShown(token, { status: to, phase: to, amount, approvedAmount, reviews: [] });
      const history = await historyOf(gateway, 'payment', token);
      // Earlier events are unchanged.
      expect(history.slice(0, before.length)).toEqual(before);
      const reviewed = isFollowed ? [] : ['ReviewOpened', 'ReviewResolved'];
      expect(typesOf(history.slice(before.length))).toEqual([...reviewed, 'FinalStatusRevised']);
      expect(history.at(-1)).toMatchObject({ data: { from, to } });
      await inquireAgain(token);
      expect(await historyOf(gateway, 'payment', token)).toEqual(history);
      const again = await acceptTheirs(token);
      expect([again.statusCode, again.body.errors[0]?.code]).toEqual([404, 'review_not_found']);
    },
  );
});

describe('a refund after a revision', { timeout: 60_000 }, () => {
  it("is limited by the provider's current amount", async () => {
    const token = await pay(declinedCard, 'declined');
    const early = await refund(token, 'early', 1);
    expect([early.statusCode, early.body.errors[0]?.code]).toEqual([409, 'payment_in_final_state']);
    await revise(token, { status: 'approved', amount: 900 });
    await untilRaised(token);
    expect((await acceptTheirs(token)).statusCode).toBe(200);
    await untilShown(token, { status: 'approved', approvedAmount: 900 });
    const tooMuch = await refund(token, 'too-much', 901);
    expect([tooMuch.statusCode, tooMuch.body.errors[0]?.code]).toEqual([409, 'refund_exceeds_amount']);
    expect((await refund(token, 'all', 900)).statusCode).toBe(200);
    await untilShown(token, { status: 'refunded', refundedAmount: 900 });
    const { refunds, calls } = await ledgerOf(system.sandbox, `${token}.`);
    expect(refunds.map((each) => each.amount)).toEqual([900]);
    expect(calls.filter(({ operation }) => operation === 'refund')).toHaveLength(1);
  });

  it('is refused without a call while the provider shows nothing approved', async () => {
    const token = await pay(approvedCard, 'approved');
    await revise(token, { status: 'declined' });
    await untilRaised(token);
    const refused = await refund(token, 'undone', 1);
    expect([refused.statusCode, refused.body.errors[0]?.code]).toEqual([409, 'refund_exceeds_amount']);
    expect((await acceptTheirs(token)).statusCode).toBe(200);
    const again = await refund(token, 'undone-again', 1);
    expect([again.statusCode, again.body.errors[0]?.code]).toEqual([409, 'payment_in_final_state']);
    const { refunds, calls } = await ledgerOf(system.sandbox, `${token}.`);
    expect(refunds).toEqual([]);
    expect(calls.filter(({ operation }) => operation === 'refund')).toEqual([]);
  });
});

interface ShownDispute {
  id: string;
  token?: string;
  amount: number;
  currency: string;
  status: string;
}

async function disputesOf(team: CallGateway): Promise<ShownDispute[]> {
  const { statusCode, body } = await team('GET', '/api/v1/disputes/list');
  expect(statusCode).toBe(200);
  return (body as unknown as { disputes: ShownDispute[] }).disputes;
}

/** The customer's bank disputes part of the amount. @returns the service's id of the dispute */
async function dispute(serviceToken: string, disputed: number): Promise<string> {
  const answer = await system.sandbox('POST', '/sandbox/disputes', { token: serviceToken, amount: disputed });
  expect(answer.statusCode).toBe(200);
  return (answer.body as unknown as { dispute: { id: string } }).dispute.id;
}

const untilDisputed = (team: CallGateway, expected: object[]) =>
  eventually(async () => {
    const shown = await disputesOf(team);
    expect(shown).toHaveLength(expected.length);
    expect(shown).toEqual(expect.arrayContaining(expected.map((each) => expect.objectContaining(each))));
  }, settled);

const untilPaymentShows = (token: string, expected: object) =>
  eventually(async () => {
    expect(await read(gateway, 'payment', token)).toMatchObject(expected);
  }, settled);

it(
  'a dispute is shown to the team whose payment it is about, holds its money, and its status follows',
  { timeout: 60_000 },
  async () => {
    const ours = await pay(approvedCard, 'approved');
    const theirs = await pay(approvedCard, 'approved', games);
    // Made outside the gateway, so it belongs to no team.
    const elsewhere = { ...terms(), callbackUrl: 'https://shop.example/callbacks' };
    const { token: foreign } = (await system.sandbox('POST', '/api/v1/payments', elsewhere)).body;
    await system.sandbox('POST', `/sandbox/payments/${foreign}/pay`, { outcome: 'approved' });
    await dispute(foreign, 1);

    const lost = await dispute(await serviceTokenOf(system.sandbox, ours), 300);
    const won = await dispute(await serviceTokenOf(system.sandbox, ours), 200);
    const other = await dispute(await serviceTokenOf(system.sandbox, theirs), 100);
    const about = { token: ours, currency: 'EUR' };
    const pending = { status: 'open', reportedStatus: 'pending' };
    await untilDisputed(gateway, [
      { ...about, ...pending, id: lost, amount: 300 },
      { ...about, ...pending, id: won, amount: 200 },
    ]);
    await untilDisputed(games, [{ ...pending, id: other, token: theirs, amount: 100 }]);
    const { amount } = terms();
    await untilPaymentShows(ours, { disputedAmount: 500, lostAmount: 0 });
    // A refund of disputed money is certain to be refused, so it must not be sent and answered 202.
    const refused = await refund(ours, 'disputed', amount - 499);
    expect([refused.statusCode, refused.body.errors[0]?.code]).toEqual([409, 'payment_disputed']);

    await system.sandbox('POST', `/sandbox/disputes/${lost}/resolve`, { status: 'approved' });
    await system.sandbox('POST', `/sandbox/disputes/${won}/resolve`, { status: 'declined' });
    await untilDisputed(gateway, [
      { ...about, id: lost, amount: 300, status: 'lost', reportedStatus: 'approved' },
      { ...about, id: won, amount: 200, status: 'won', reportedStatus: 'declined' },
    ]);
    await untilDisputed(games, [{ id: other, status: 'open' }]);
    await untilPaymentShows(ours, { status: 'approved', disputedAmount: 0, lostAmount: 300, reviews: [] });
    expect((await refund(ours, 'rest', amount - 300)).statusCode).toBe(200);
    const { refunds, calls } = await ledgerOf(system.sandbox, `${ours}.`);
    expect(refunds).toMatchObject([{ amount: amount - 300 }]);
    expect(calls.filter(({ operation }) => operation === 'refund')).toHaveLength(1);
  },
);
