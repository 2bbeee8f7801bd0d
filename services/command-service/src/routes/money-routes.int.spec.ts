import { toPublicRefund } from '@tollgate/gateway-api';
import { describe, expect, it } from 'vitest';
import { errorsOf, startApp } from '../testing/app.ts';
import {
  accountNamed,
  card,
  payoutFor,
  keepRecurringToken,
  recurringAlias,
  useHarness,
} from '@tollgate/core/testing';
import { allGuards } from '../testing/guards.ts';

const harness = useHarness(() => ({ guardsOf: allGuards }));

const key = { 'idempotency-key': 'a' };
const received = () => harness().provider.received;

type Faults = ReturnType<typeof harness>['provider']['faultsOf']['refund'];

describe.each([
  ['refunds', 'refund', 'refund_unresolved', 'Idempotency-Key'],
  ['payouts', 'payout', 'payout_not_found', 'orderNumber'],
] as const)('POST /api/v1/%s answers', (path, operation, review, keyName) => {
  /** Asks twice for the same, unless told otherwise. */
  async function given(...faults: Faults) {
    const terms =
      operation === 'refund'
        ? { token: await harness().approved('order-1', 500), amount: 500 }
        : payoutFor('order-1').request;
    harness().provider.faultsOf[operation].push(...faults);
    const app = startApp(harness());
    return (more: object = {}) => app.post(path, { ...terms, ...more }, operation === 'refund' ? key : {});
  }

  it('202 while the outcome is unknown', async () => {
    const answer = await (await given({ kind: 'lost-before' }))();
    const shown = { status: 'pending', phase: 'unresolved', amount: 500 };
    expect([answer.statusCode, answer.json()]).toMatchObject([202, { [operation]: shown }]);
  });

  it.each([
    [
      "the provider's refusal",
      { kind: 'refused', code: 'a_code', errorKind: 'processing_error' },
      409,
      'processing_error a_code',
    ],
    ['502 if the provider was not reached', { kind: 'not-sent' }, 502, 'api_error provider_not_reached'],
  ] as const)('%s, which no repeat changes', async (_, fault, statusCode, error) => {
    const ask = await given(fault);
    const answer = await ask();
    expect(errorsOf(answer)).toEqual([statusCode, error]);
    expect(answer.headers['retry-after']).toBeUndefined();
    expect(answer.json<{ token: string }>().token).toMatch(/^(ref|po)_/);
    expect((await ask()).json()).toEqual(answer.json());
  });

  it('422 to other terms under the same key', async () => {
    const ask = await given();
    const { token } = (await ask()).json<{ token: string }>();
    const answer = await ask({ amount: 31 });
    expect(errorsOf(answer)).toEqual([422, `invalid_request_error idempotency_key_reused ${keyName}`]);
    expect(answer.json()).toMatchObject({ token });
  });

  it('409 if a person resolved it as not made', async () => {
    const ask = await given({ kind: 'lost-before' });
    const { token, refund } = (await ask()).json<{ token: string; refund?: { paymentToken: string } }>();
    const reviewed = refund?.paymentToken ?? token;
    await harness().clock.advance(3_600_000);
    await harness().inquire(reviewed);
    await harness().resolve({ token: reviewed, code: review, resolution: `${operation}_not_made` });
    expect(errorsOf(await ask())).toEqual([409, 'processing_error resolved_as_not_made']);
  });
});

describe('POST /api/v1/refunds answers', () => {
  it('200 with the refund, and the same to a repeat', async () => {
    const payment = await harness().approved('order-1', 100);
    const app = startApp(harness());
    const answer = await app.post('refunds', { token: payment, amount: 60 }, key);
    expect(answer.statusCode).toBe(200);
    const { token } = answer.json<{ token: string }>();
    expect(token).toMatch(/^ref_[a-z2-7]{26}$/);
    const refund = { token, paymentToken: payment, amount: 60, currency: 'EUR', status: 'approved' };
    const createdAt = new Date(harness().clock.now()).toISOString();
    expect(answer.json()).toEqual({
      success: true,
      token,
      refund: { ...refund, phase: 'approved', createdAt, updatedAt: createdAt, errors: [], reviews: [] },
    });
    expect(answer.headers['tollgate-position']).toMatch(/^\d+$/);
    expect(answer.headers['idempotent-replayed']).toBeUndefined();
    const again = await app.post('refunds', { token: payment, amount: 60 }, key);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.json()).toEqual(answer.json());
  });

  it.each([
    ['pending', 'accepted'],
    ['declined', 'declined'],
  ])('200 with the decision of the provider: %s', async (refundStatus, phase) => {
    harness().provider.refundStatus = refundStatus;
    const token = await harness().approved('order-1', 100);
    const answer = await startApp(harness()).post('refunds', { token }, key);
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({ refund: { status: refundStatus, phase } });
  });

  it('400 without a key: an amount may be refunded twice', async () => {
    const token = await harness().approved('order-1', 100);
    const answer = await startApp(harness()).post('refunds', { token });
    expect(errorsOf(answer)).toEqual([400, 'invalid_request_error idempotency_key_missing Idempotency-Key']);
    expect(received()).toHaveLength(1);
  });

  it('409 if the amount exceeds the rest, with the rest', async () => {
    const token = await harness().approved('order-1', 100);
    const answer = await startApp(harness()).post('refunds', { token, amount: 101 }, key);
    expect(errorsOf(answer)).toEqual([409, 'processing_error refund_exceeds_amount amount']);
    expect(answer.body).toContain('At most 1.00 EUR ');
  });

  it('409 if the payment ended without money', async () => {
    const token = await harness().authorized('order-1');
    await harness().end('void', token);
    const answer = await startApp(harness()).post('refunds', { token }, key);
    expect(errorsOf(answer)).toEqual([409, 'processing_error payment_in_final_state token']);
  });

  it('409 with Retry-After while the outcome of another one is not known', async () => {
    const token = await harness().approved('order-1', 100);
    harness().provider.faultsOf.refund.push({ kind: 'lost-before' });
    const app = startApp(harness());
    await app.post('refunds', { token, amount: 30 }, key);
    const answer = await app.post('refunds', { token, amount: 30 }, { 'idempotency-key': 'b' });
    expect(errorsOf(answer)).toEqual([409, 'processing_error operation_in_progress Idempotency-Key']);
    expect(answer.headers['retry-after']).toBe('2');
  });

  it('409 if nothing is paid yet that could be refunded', async () => {
    const token = await harness().authorized('order-1');
    const answer = await startApp(harness()).post('refunds', { token }, key);
    expect(errorsOf(answer)).toEqual([409, 'processing_error payment_not_refundable token']);
  });

  it('409 with the token if the account of the payment is no longer configured', async () => {
    const token = await harness().approved('order-1', 100);
    const authorized = await harness().authorized('order-2');
    const app = startApp(harness(), { instance: harness().startInstance({ accounts: [] }) });
    const noAccount = [409, 'processing_error no_account token'];
    expect(errorsOf(await app.post('refunds', { token }, key))).toEqual(noAccount);
    expect(errorsOf(await app.post('refunds', { token: authorized }, { 'idempotency-key': 'b' }))).toEqual(
      noAccount,
    );
  });

  // The use of the key is recorded by then: "nothing was recorded" would be false.
  it('503 with Retry-After if the account fails, and claims no more than that nothing was sent', async () => {
    const token = await harness().authorized('order-1');
    harness().provider.answersInquiries = false;
    const answer = await startApp(harness()).post('refunds', { token }, key);
    expect(errorsOf(answer)).toEqual([503, 'api_error provider_unavailable']);
    expect(answer.headers['retry-after']).toBe('5');
    expect(answer.body).not.toContain('recorded');
  });

  // Its team was informed to send another one, and the customer had it twice.
  it('409 with Retry-After if it was resolved as not made, and the provider shows it after all', async () => {
    const token = await harness().approved('order-1', 100);
    harness().provider.faultsOf.refund.push({ kind: 'lost-before' });
    const app = startApp(harness());
    await app.post('refunds', { token }, key);
    await harness().clock.advance(3_600_000);
    await harness().inquire(token);
    await harness().resolve({ token, code: 'refund_unresolved', resolution: 'refund_not_made' });
    const { serviceToken = '' } = (await harness().payments.load(token))?.payment ?? {};
    Object.assign(harness().provider.payments.get(serviceToken)!, { refundedAmount: 100 });
    await harness().inquire(token);
    const answer = await app.post('refunds', { token }, key);
    expect(errorsOf(answer)).toEqual([409, 'processing_error refund_in_review']);
    expect(answer.headers['retry-after']).toBe('600');
    const view = (await harness().payments.load(token))!;
    const shown = toPublicRefund(view.payment.refunds[0]!, view);
    expect(shown).toMatchObject({
      status: 'declined',
      reviews: [{ code: 'discrepancy', evidence: { kind: 'refund_disagrees' } }],
    });
    await harness().resolve({ token, code: 'discrepancy', resolution: 'keep_ours' });
    const later = await app.post('refunds', { token }, key);
    expect(errorsOf(later)).toEqual([409, 'processing_error refund_doubtful']);
    expect(later.headers['retry-after']).toBe('3600');
  });
});

describe('POST /api/v1/payouts answers', () => {
  const { request } = payoutFor('order-1');
  const { pan, expires } = card;
  const toCard = { ...request, destination: { card: { pan, expires } } };

  it('200 with the payout, and the same to a repeat', async () => {
    const app = startApp(harness());
    const answer = await app.post('payouts', request);
    const { token } = answer.json<{ token: string }>();
    expect(token).toMatch(/^po_[a-z2-7]{26}$/);
    const destination = { kind: 'bankAccount', bankName: 'A bank', accountEnding: '2051' };
    expect([answer.statusCode, answer.json()]).toMatchObject([
      200,
      { success: true, token, payout: { token, status: 'approved', amount: 500, destination } },
    ]);
    expect(answer.body).not.toContain('DE02120300000000202051');
    expect(answer.headers['tollgate-position']).toMatch(/^\d+$/);
    const again = await app.post('payouts', request);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.json()).toEqual(answer.json());
  });

  it('400 to a card without the scope for it, and accepts it with the scope', async () => {
    const answer = await startApp(harness(), { scopes: ['payouts'] }).post('payouts', toCard);
    expect(errorsOf(answer)).toEqual([400, 'invalid_request_error card_data_not_accepted destination.card']);
    expect(answer.body).not.toContain(pan);
    expect(received()).toEqual([]);
    const taken = await startApp(harness()).post('payouts', toCard);
    expect(taken.json()).toMatchObject({ payout: { sanitizedMask: '439296******1251' } });
    expect(taken.body).not.toContain(pan);
  });

  it('409 to an unknown recurring token, and 200 to one of its own', async () => {
    const app = startApp(harness());
    const body = { ...request, destination: { recurringToken: recurringAlias } };
    const refused = [409, 'processing_error recurring_token_not_found recurringToken'];
    expect(errorsOf(await app.post('payouts', body))).toEqual(refused);
    const nobodys = { ...request, destination: { recurringToken: 'réc a' } };
    expect(errorsOf(await app.post('payouts', nobodys))).toEqual(refused);
    await keepRecurringToken(harness());
    const answer = await app.post('payouts', body);
    expect(answer.statusCode).toBe(200);
    expect(answer.body).not.toContain('service-recurring');
  });

  it('400 to a callback address that the team has not allowed', async () => {
    const body = { ...request, callbackUrl: 'https://shop.example/callback' };
    const answer = await startApp(harness()).post('payouts', body);
    expect(errorsOf(answer)).toEqual([400, 'invalid_request_error origin_not_allowed callbackUrl']);
    const allowedOrigins = { callback: ['https://shop.example'], redirect: undefined };
    const allowed = await startApp(harness(), { team: { allowedOrigins } }).post('payouts', body);
    expect(allowed.json()).toMatchObject({ payout: { callbackUrl: 'https://shop.example/callback' } });
    expect(harness().provider.payoutRequests[0]?.callbackUrl).toMatch(/^https:\/\/gateway\.example\//);
  });

  it('as before to a repeat, even if the team no longer allows its callback origin', async () => {
    const body = { ...request, callbackUrl: 'https://shop.example/callback' };
    const allowed = { callback: ['https://shop.example'], redirect: undefined };
    const answer = await startApp(harness(), { team: { allowedOrigins: allowed } }).post('payouts', body);
    const again = await startApp(harness()).post('payouts', body);
    expect([again.statusCode, again.json()]).toEqual([200, answer.json()]);
  });

  it('409 if no account takes the currency', async () => {
    const accounts = [accountNamed('main', harness().provider.provider, { currencies: ['USD'] })];
    const app = startApp(harness(), { instance: harness().startInstance({ accounts }) });
    expect(errorsOf(await app.post('payouts', request))).toEqual([
      409,
      'processing_error no_account currency',
    ]);
  });
});

describe('GET /api/v1/balance answers', () => {
  const path = 'balance?currency=EUR';

  it.each(['read', 'payments', 'payouts'] as const)('200 to a key with the scope %s', async (scope) => {
    const answer = await startApp(harness(), { scopes: [scope] }).get(path);
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      { success: true, wallet: { currency: 'EUR', available: 700, hold: 300 } },
    ]);
  });

  it.each([
    ['balance', 'incorrect_currency currency'],
    ['balance?currency=euro', 'incorrect_currency currency'],
    ['balance?currency=EUR&currency=USD', 'incorrect_currency currency'],
    ['balance?currency=EUR&color=red', 'invalid_param color'],
  ])('400 to %s', async (asked, error) => {
    expect(errorsOf(await startApp(harness()).get(asked))).toEqual([400, `invalid_request_error ${error}`]);
  });

  it.each([
    ['processing_error', [409, 'processing_error a_code']],
    ['invalid_request_error', [400, 'invalid_request_error a_code']],
    ['authentication_error', [502, 'api_error provider_account_refused']],
  ])("the provider's refusal as %s, without Retry-After", async (kind, expected) => {
    const errors = [{ code: 'a_code', kind, message: 'no' }];
    harness().provider.provider.balance = () => Promise.resolve({ kind: 'refused', errors });
    const answer = await startApp(harness()).get(path);
    expect(errorsOf(answer)).toEqual(expected);
    expect(answer.headers['retry-after']).toBeUndefined();
  });

  it('503 with Retry-After if the provider gives no answer', async () => {
    harness().provider.answersInquiries = false;
    const answer = await startApp(harness()).get(path);
    expect(errorsOf(answer)).toEqual([503, 'api_error provider_unavailable']);
    expect(answer.headers['retry-after']).toBe('2');
  });

  it('409 if no account takes the currency', async () => {
    const accounts = [accountNamed('main', harness().provider.provider, { currencies: ['USD'] })];
    const app = startApp(harness(), { instance: harness().startInstance({ accounts }) });
    expect(errorsOf(await app.get(path))).toEqual([409, 'processing_error no_account currency']);
  });
});
