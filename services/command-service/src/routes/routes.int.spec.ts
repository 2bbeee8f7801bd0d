/** Shared behavior of all routes: permissions, input, and outages of the store. */
import { decodePaymentEvent, eventMetadataSchema, paymentStream } from '@tollgate/core';
import { isRequestId } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { errorsOf, startApp } from '../testing/app.ts';
import { failingStore, teaFor, useHarness } from '@tollgate/core/testing';

const harness = useHarness();

const tea = { product: 'Tea', amount: 1250, currency: 'EUR', orderNumber: 'order-1' };
const bankAccount = { bankName: 'A bank', account: 'DE02120300000000202051' };
const token = 'pay_unknown';

const routes = [
  { path: 'payments', body: tea, required: ['product', 'amount', 'currency'] },
  { path: 'payments/confirm', body: { token }, required: ['token'] },
  { path: 'payments/decline', body: { token }, required: ['token'] },
  { path: 'refunds', body: { token, amount: 60 }, required: ['token'] },
  {
    path: 'payouts',
    body: { amount: 500, currency: 'EUR', orderNumber: 'order-1', destination: { bankAccount } },
    required: ['amount', 'currency', 'orderNumber', 'destination'],
  },
  {
    path: `reviews/${token}/resolve`,
    body: { code: 'discrepancy', number: 1, resolution: 'keep_ours', reason: 'seen' },
    required: ['code', 'resolution', 'reason'],
  },
] as const;

const nothingHappened = () => expect(harness().provider.received).toEqual([]);

it('a caller is refused before the body is read', async () => {
  const code = 'incorrect_private_key';
  const stranger = startApp(harness(), { authentication: { kind: 'refused', code } });
  expect(errorsOf(await stranger.post('payments', '{"half'))).toEqual([401, `authentication_error ${code}`]);
  const reader = startApp(harness(), { scopes: ['read'] });
  expect(errorsOf(await reader.post('payments', '{"half'))).toEqual([
    403,
    'authentication_error scope_missing',
  ]);
});

describe.each(routes)('POST /api/v1/$path', ({ path, body, required }) => {
  const key = { 'idempotency-key': 'a' };

  it.each([
    ['half of a body', '{"half', 'invalid_json'],
    ['no body', '', 'invalid_param'],
    ['an array', '[]', 'invalid_param'],
    ['null', 'null', 'invalid_param'],
  ])('refuses %s', async (_name, payload, code) => {
    const answer = await startApp(harness()).post(path, payload, key);
    expect(errorsOf(answer)).toEqual([400, `invalid_request_error ${code} body`]);
    nothingHappened();
  });

  it('refuses an unknown field, by name', async () => {
    const answer = await startApp(harness()).post(path, { ...body, color: 'red' }, key);
    expect(errorsOf(answer)).toEqual([400, 'invalid_request_error invalid_param color']);
    nothingHappened();
  });

  it.each(required)('refuses a body without %s, by name', async (field) => {
    const { [field]: _, ...rest } = body as Record<string, unknown>;
    const answer = await startApp(harness()).post(path, rest, key);
    const code = { amount: 'incorrect_amount', currency: 'incorrect_currency' }[field as string];
    expect(errorsOf(answer)).toEqual([400, `invalid_request_error ${code ?? 'invalid_param'} ${field}`]);
    nothingHappened();
  });
});

describe('the store that is down', () => {
  const app = () => {
    const instance = harness().startInstance({ wrapStore: failingStore(() => 'refused') });
    return startApp(harness(), { instance });
  };
  it.each(routes.filter(({ path }) => ['payments', 'payouts'].includes(path)))(
    'is answered with 503 by POST /api/v1/$path, and nothing is sent',
    async ({ path, body }) => {
      const answer = await app().post(path, body);
      expect(errorsOf(answer)).toEqual([503, 'api_error store_unavailable']);
      expect(answer.headers['retry-after']).toBe('5');
      nothingHappened();
    },
  );

  it('is answered with 503 if a payment is refunded, confirmed or resolved', async () => {
    const approved = await harness().approved('order-1');
    const authorized = await harness().authorized('order-2');
    harness().provider.change(`${authorized}.1`, { status: 'expired', authorizedAmount: 0 });
    harness().provider.change(`${approved}.1`, { status: 'declined' });
    await harness().inquire(approved);
    const before = harness().provider.received.length;
    const down = [503, 'api_error store_unavailable'];
    const key = { 'idempotency-key': 'a' };
    const kept = { code: 'discrepancy', number: 1, resolution: 'keep_ours', reason: 'seen' };
    const another = await harness().approved('order-3');
    expect(errorsOf(await app().post('refunds', { token: another }, key))).toEqual(down);
    expect(errorsOf(await app().post('payments/confirm', { token: authorized }))).toEqual(down);
    expect(errorsOf(await app().post(`reviews/${approved}/resolve`, kept))).toEqual(down);
    expect(harness().provider.received).toHaveLength(before + 1);
  });

  it('is not answered as an internal error', async () => {
    harness().provider.faults.push({ kind: 'breaks' });
    const answer = await startApp(harness()).post('payments', tea);
    expect(errorsOf(answer)).toEqual([500, 'api_error core_api_error']);
    expect(answer.body).not.toContain('the connector is broken');
  });
});

describe('the cause of an event', () => {
  const causeOf = async (headers: Record<string, string>) => {
    const answer = await startApp(harness()).post('payments', tea, headers);
    const stream = paymentStream(answer.json<{ token: string }>().token);
    for await (const event of harness().store.read(stream, { limit: 1 })) {
      expect(decodePaymentEvent(event).type).toBe('PaymentRequested');
      return eventMetadataSchema.parse(event.metadata);
    }
    throw new Error('nothing was recorded');
  };

  it('is the team, its key and its trace', async () => {
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const { actor, correlationId, causationId, ...rest } = await causeOf({ traceparent });
    expect([actor, rest.traceparent]).toEqual([
      { kind: 'team', team: 'demo', keyId: 'k', address: '127.0.0.1' },
      traceparent,
    ]);
    expect(correlationId).toBe(causationId);
    expect(isRequestId(correlationId)).toBe(true);
  });

  it('ignores an invalid trace', async () => {
    expect((await causeOf({ traceparent: 'DROP TABLE' })).traceparent).toBeUndefined();
  });
});

it('a payment of another team is as unknown to every route as one that does not exist', async () => {
  const created = await harness().create(teaFor('order-1'));
  if (created.kind !== 'answered') throw new Error(created.kind);
  const own = created.aggregate.token;
  const app = startApp(harness(), { team: { team: 'others' } });
  for (const { path, body } of routes) {
    if (!('token' in body) && !path.startsWith('reviews')) continue;
    const ask = (of: string) =>
      app.post(path.replace(token, of), 'token' in body ? { ...body, token: of } : body, {
        'idempotency-key': 'a',
      });
    const answer = await ask(own);
    expect(errorsOf(answer)).toEqual([404, 'invalid_request_error payment_not_found token']);
    expect(answer.body).toBe((await ask('pay_unknown')).body);
  }
});
