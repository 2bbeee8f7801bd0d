/**
 * The second profile of the provider contract: the sandbox behind a filter that shows only what the specification
 * requires, without amounts, codes and filters.
 */
import { readFile } from 'node:fs/promises';
import { type Connections, providers } from '@tollgate/provider';
import { type Provider } from '@tollgate/core';
import { toBareAnswer, withoutFilters } from '@tollgate/provider/bare';
import { Secret, systemClock } from '@tollgate/service-kit';
import { type Dispatcher, Pool } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from './testing/harness.ts';
import { approvedCard } from './testing/samples.ts';

let harness: Harness;
let provider: Provider;
let stranger: Provider;

beforeAll(async () => {
  harness = await startHarness();
  const { httpsUrl: baseUrl, caFile } = harness.addresses();
  const ca = await readFile(caFile, 'utf8');
  const open = (key: string) =>
    providers['payment-service']({
      baseUrl,
      privateKey: new Secret(key),
      ca,
      clock: systemClock,
      connections: bareConnections(new Pool(baseUrl, { connect: { ca } })),
    });
  provider = open(harness.key());
  stranger = open('sk_sandbox_of_nobody');
});
afterAll(async () => {
  await provider.close();
  await stranger.close();
  await harness.remove();
});

/** Buffers each answer, and rewrites it as a bare service would send it. */
function bareConnections(pool: Pool): Connections {
  return {
    dispatch: (options, handler) => {
      const asked = { ...options, ...withoutFilters({ method: options.method, path: options.path }) };
      return pool.dispatch(asked, bareHandler(asked, handler));
    },
    destroy: pool.destroy.bind(pool),
  };
}

function bareHandler(
  asked: { method: string; path: string },
  handler: Dispatcher.DispatchHandler,
): Dispatcher.DispatchHandler {
  const chunks: Buffer[] = [];
  let statusCode = 0;
  return {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onResponseStart: (_controller, code) => void (statusCode = code),
    onResponseData: (_controller, chunk) => void chunks.push(chunk),
    onResponseEnd: (controller, trailers) => {
      const bare = toBareAnswer(asked, { statusCode, body: Buffer.concat(chunks).toString() });
      handler.onResponseStart?.(controller, bare.statusCode, {});
      handler.onResponseData?.(controller, Buffer.from(bare.body));
      handler.onResponseEnd?.(controller, trailers);
    },
    onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
  };
}

const anyTime = () => true;
const card = { pan: approvedCard, expires: '12/2099', holder: 'Ada Lovelace', cvv: '987' };
let numbers = 0;
const callbackUrl = 'http://127.0.0.1:9/callbacks';
const request = () => ({
  product: 'Tea',
  amount: 1250,
  currency: 'EUR',
  orderNumber: `order-${(numbers += 1)}`,
  callbackUrl,
  isCaptureDeferred: false,
  isRecurring: false,
});

async function authorized(more: object = {}): Promise<string> {
  const outcome = await provider.authorize({ ...request(), ...more }, anyTime);
  if (outcome.kind !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(outcome)}`);
  return outcome.serviceToken;
}
async function shownOf(serviceToken: string) {
  const outcome = await provider.inquirePayment(serviceToken);
  if (outcome.kind !== 'accepted') throw new Error(`no answer: ${JSON.stringify(outcome)}`);
  return outcome.answer;
}

test('a paid hosted payment shows its status, and no invented amount', async () => {
  const wanted = request();
  const serviceToken = await authorized(wanted);
  expect((await shownOf(serviceToken)).observed.status).toBe('init');
  await harness.pay(serviceToken, { pan: approvedCard });
  const { orderNumber } = wanted;
  expect(await shownOf(serviceToken)).toEqual({
    observed: { serviceToken, status: 'approved', orderNumber },
  });
});

test('a card is charged at once', async () => {
  expect((await shownOf(await authorized({ source: { card } }))).observed.status).toBe('approved');
});

test('a payment with a lost answer is found by its number in a list without filters', async () => {
  const wanted = request();
  await harness.setFaults({ operation: 'create', fault: 'lost_reply', times: 1 });
  expect((await provider.authorize(wanted, anyTime)).kind).toBe('unknown');
  await authorized();
  expect(await provider.listPayments(wanted)).toMatchObject({
    kind: 'accepted',
    answer: [{ observed: { orderNumber: wanted.orderNumber } }],
  });
});

test('a list without filters never proves absence', async () => {
  await authorized();
  const query = { orderNumber: request().orderNumber };
  expect((await provider.listPayments(query)).kind).toBe('unknown');
  expect((await provider.listPayouts(query)).kind).toBe('unknown');
});

test('a refund that shows only its token is not reported as made, and has no amount', async () => {
  const serviceToken = await authorized({ source: { card } });
  const outcome = await provider.refund({ serviceToken, amount: 1250 }, anyTime);
  expect(outcome.kind).toBe('unknown');
  const { observed } = await shownOf(serviceToken);
  expect(observed.status).toBe('refunded');
  expect(observed).not.toHaveProperty('refundedAmount');
});

test('a payout that shows only its token is not reported as made', async () => {
  const destination = { bankAccount: { bankName: 'Example Bank', account: 'DE89370400440532013000' } };
  await harness.advanceClock(24 * 60 * 60_000 + 1);
  const { amount, currency, orderNumber } = request();
  const outcome = await provider.payout({ amount, currency, orderNumber, callbackUrl, destination }, anyTime);
  expect(outcome.kind).toBe('unknown');
});

test.each(['capture', 'void'] as const)(
  'a %s is accepted without a payment in its answer',
  async (operation) => {
    const serviceToken = await authorized({ source: { card }, isCaptureDeferred: true });
    expect(await provider[operation](serviceToken, anyTime)).toEqual({ kind: 'accepted' });
  },
);

test('a failure with an unknown code is not an acceptance, with any HTTP status', async () => {
  for (const operation of ['capture', 'void'] as const)
    expect(['refused', 'unknown']).toContain((await provider[operation](await authorized(), anyTime)).kind);
  expect((await provider.inquirePayment('nobody')).kind).not.toBe('accepted');
  expect(await stranger.authorize(request(), anyTime)).toMatchObject({
    kind: 'refused',
    isAccountRefused: true,
  });
});

test('lists without amounts are not compared, and no balance or dispute is invented', async () => {
  const page = { from: '2020-01-01', to: '2020-01-02', page: 1 };
  for (const inquiry of [
    provider.pageOfPayments(page),
    provider.pageOfPayouts(page),
    provider.balance('EUR'),
  ])
    expect(await inquiry).toMatchObject({ kind: 'unknown' });
});
