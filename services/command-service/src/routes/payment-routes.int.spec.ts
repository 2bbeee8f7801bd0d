import { describe, expect, it } from 'vitest';
import { errorsOf, startApp } from '../testing/app.ts';
import {
  type Harness,
  accountNamed,
  card,
  cause,
  teaFor,
  keepRecurringToken,
  recurringAlias,
  useHarness,
} from '@tollgate/core/testing';
import { inquireNamed } from '@tollgate/core';

const harness = useHarness();

const tea = { product: 'Tea', amount: 1250, currency: 'EUR', orderNumber: 'order-1' };

const requestsOf = ({ provider }: Harness) => provider.requests;

/** A charge whose answer was lost, and that a person has searched for in vain. */
async function resolvedAsNotMade() {
  harness().provider.faults.push({ kind: 'lost-before' });
  const app = startApp(harness());
  const { token } = (await app.post('payments', { ...tea, card })).json<{ token: string }>();
  await harness().clock.advance(3_600_000);
  await harness().inquire(token);
  await harness().resolve({ token, code: 'attempt_not_found', resolution: 'payment_not_made' });
  return { app, token };
}

/** The provider shows one under this number after all. */
const showLate = (orderNumber: string, changes: { status?: string; createdAt?: number }) =>
  harness().provider.payments.set('late', {
    serviceToken: 'late',
    status: 'approved',
    amount: 1250,
    currency: 'EUR',
    orderNumber,
    authorizedAmount: 0,
    refundedAmount: 0,
    createdAt: harness().clock.now(),
    ...changes,
  });

describe('POST /api/v1/payments answers', () => {
  it('200 with token, page, payment and position, and the same to a repeat', async () => {
    const app = startApp(harness());
    const answer = await app.post('payments', tea);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['tollgate-position']).toMatch(/^\d+$/);
    expect(answer.headers['idempotent-replayed']).toBeUndefined();
    const { token } = answer.json<{ token: string }>();
    const payment = { token, status: 'init', phase: 'init', ...tea };
    expect(answer.json()).toMatchObject({
      success: true,
      processingUrl: 'https://pay.example/service-1',
      payment,
    });
    const again = await app.post('payments', tea);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.json()).toEqual(answer.json());
  });

  it('no page if the provider accepted another amount', async () => {
    harness().provider.provider.authorize = () =>
      Promise.resolve({
        kind: 'accepted',
        serviceToken: 'service-1',
        processingUrl: 'https://pay.example/service-1',
        amount: 125_000,
        currency: 'EUR',
      });
    const answer = await startApp(harness()).post('payments', tea);
    expect(answer.body).not.toContain('pay.example');
    expect(answer.json()).toMatchObject({ payment: { reviews: [{ code: 'discrepancy' }] } });
  });

  it('202 while the outcome is unknown, and never an error', async () => {
    for (let attempt = 1; attempt <= 3; attempt += 1) harness().provider.faults.push({ kind: 'lost-before' });
    const answer = await startApp(harness()).post('payments', tea);
    expect(answer.statusCode).toBe(202);
    expect(answer.json()).toMatchObject({ success: true, payment: { status: 'init', phase: 'unresolved' } });
  });

  it.each([
    ['invalid_request_error', 'invalid_param', 400, 'invalid_request_error invalid_param'],
    ['processing_error', 'balance_less_than_amount', 409, 'processing_error balance_less_than_amount'],
    // The gateway's own account is at fault: the team's key and request are fine.
    ['authentication_error', 'incorrect_private_key', 502, 'api_error provider_account_refused'],
    ['settings_error', 'merchant_disabled', 502, 'api_error provider_account_refused'],
  ])("the provider's refusal as %s %s with %i", async (errorKind, code, statusCode, expected) => {
    harness().provider.faults.push({ kind: 'refused', code, errorKind });
    const app = startApp(harness());
    const answer = await app.post('payments', tea);
    expect(errorsOf(answer)).toEqual([statusCode, expected]);
    expect(answer.json<{ token: string }>().token).toMatch(/^pay_/);
    expect((await app.post('payments', tea)).json()).toEqual(answer.json());
  });

  // It was always 503 with Retry-After before: a recorded failure has the same answer for every repeat.
  it('502 if the provider was not reached in any attempt, which no repeat changes', async () => {
    harness().provider.faults.push({ kind: 'not-sent' }, { kind: 'not-sent' }, { kind: 'not-sent' });
    const app = startApp(harness());
    const answer = await app.post('payments', tea);
    expect(errorsOf(answer)).toEqual([502, 'api_error provider_not_reached']);
    expect(answer.headers['retry-after']).toBeUndefined();
    expect(answer.body).toMatch(/No money moved.*new Idempotency-Key or orderNumber/);
    expect((await app.post('payments', tea)).json()).toEqual(answer.json());
  });

  it('502 if the provider does not have it after all attempts', async () => {
    const fault = { kind: 'lost-before' } as const;
    harness().provider.faults.push(fault, fault, fault);
    const app = startApp(harness());
    const { token } = (await app.post('payments', tea)).json<{ token: string }>();
    for (let inquiries = 0; inquiries < 3; inquiries += 1) {
      await harness().clock.advance(3_600_000);
      await harness().inquire(token);
    }
    const answer = await app.post('payments', tea);
    expect(errorsOf(answer)).toEqual([502, 'api_error provider_not_reached']);
    expect(answer.body).toContain('has no record of this request');
    expect(answer.body).not.toContain('could not be reached');
  });

  // An attempt that was abandoned took effect after all: the team was informed that no money had moved, and to send a new request.
  it.each([
    ['an earlier attempt', 1, 0],
    ['somebody else', 3, 3_600_000],
  ] as const)(
    '409 while the provider has one of %s all the same, until a person has resolved it',
    async (_, number, beforeMs) => {
      harness().provider.faults.push({ kind: 'not-sent' }, { kind: 'not-sent' }, { kind: 'not-sent' });
      const app = startApp(harness());
      const failed = await app.post('payments', tea);
      const { token } = failed.json<{ token: string }>();
      showLate(`${token}.${number}`, { createdAt: harness().clock.now() - beforeMs });
      await inquireNamed(harness(), token, 'late', cause);
      const answer = await app.post('payments', tea);
      expect(errorsOf(answer)).toEqual([409, 'processing_error payment_in_review']);
      expect(answer.headers['retry-after']).toBe('600');
      await harness().resolve({ token, code: 'discrepancy', resolution: 'keep_ours' });
      expect((await app.post('payments', tea)).json()).toEqual(failed.json());
    },
  );

  // Not decided yet, it counted as without money: the team was informed to charge again, and it was approved.
  it.each([
    ['pending', 409, 'processing_error payment_in_review'],
    ['declined', 409, 'processing_error resolved_as_not_made'],
  ])('in review as long as one under its number may be charged: %s', async (status, statusCode, error) => {
    const { app, token } = await resolvedAsNotMade();
    showLate(`${token}.1`, { status });
    await harness().inquire(token);
    expect(errorsOf(await app.post('payments', { ...tea, card }))).toEqual([statusCode, error]);
  });

  it('409 if a person resolved it as not made', async () => {
    const { app } = await resolvedAsNotMade();
    const answer = await app.post('payments', { ...tea, card });
    expect(errorsOf(answer)).toEqual([409, 'processing_error resolved_as_not_made']);
  });

  it('422 to other terms under the same key, with the token of the first request', async () => {
    const app = startApp(harness());
    const { token } = (await app.post('payments', tea)).json<{ token: string }>();
    const answer = await app.post('payments', { ...tea, amount: 1 });
    expect(errorsOf(answer)).toEqual([422, 'invalid_request_error idempotency_key_reused orderNumber']);
    // Without the token in the message, nothing led to the payment under that key.
    expect(answer.json()).toMatchObject({
      token,
      errors: [{ message: expect.stringContaining(`Retrieve ${token}.`) }],
    });
    const key = { 'idempotency-key': 'a' };
    await app.post('payments', { ...tea, orderNumber: undefined }, key);
    const byKey = await app.post('payments', { ...tea, orderNumber: 'order-2' }, key);
    expect(errorsOf(byKey)).toEqual([422, 'invalid_request_error idempotency_key_reused Idempotency-Key']);
    expect(requestsOf(harness())).toHaveLength(2);
  });

  // A client library that began to send its defaults was refused every repeat.
  it('a repeat as such if it differs only by explicit defaults', async () => {
    const app = startApp(harness());
    const first = await app.post('payments', { ...tea, metadata: {}, recurring: false });
    const answer = await app.post('payments', { ...tea, needConfirmation: false });
    expect([answer.statusCode, answer.headers['idempotent-replayed']]).toEqual([200, 'true']);
    expect(answer.json()).toMatchObject({ token: first.json<{ token: string }>().token });
    const other = await app.post('payments', { ...tea, needConfirmation: true });
    expect(errorsOf(other)).toEqual([422, 'invalid_request_error idempotency_key_reused orderNumber']);
  });

  it('409 with Retry-After while another process is still calling', async () => {
    harness().provider.beforeAnswerOf = () => new Promise(() => undefined);
    void harness().startInstance({ dies: true }).create(teaFor('order-1', 1250));
    await expect.poll(() => requestsOf(harness()).length).toBe(1);
    // An hour to wait for it.
    const instance = harness().startInstance();
    const now = harness().clock.now();
    const quietPeriods = { ...instance.inside.quietPeriods, inquiryTime: () => now };
    const inside = { ...instance.inside, quietPeriods };
    const answer = await startApp(harness(), { instance: { ...instance, inside } }).post('payments', tea);
    expect(errorsOf(answer)).toEqual([409, 'processing_error operation_in_progress orderNumber']);
    expect(answer.headers['retry-after']).toBe('2');
  });

  it('409 if no account takes the currency, and 503 with Retry-After while the account fails', async () => {
    const provider = harness().provider.provider;
    const accounts = [accountNamed('main', provider, { currencies: ['USD'] })];
    const instance = harness().startInstance({ accounts });
    const app = startApp(harness(), { instance });
    expect(errorsOf(await app.post('payments', tea))).toEqual([409, 'processing_error no_account currency']);
    for (let failures = 0; failures < 10; failures += 1) {
      const result = await instance.accounts.permitOf('sandbox', 'main');
      if (result.kind === 'permit') result.permit.release('unknown');
    }
    const answer = await app.post('payments', { ...tea, currency: 'USD' });
    expect(errorsOf(answer)).toEqual([503, 'api_error provider_unavailable']);
    expect(answer.headers['retry-after']).toBe('5');
    expect(requestsOf(harness())).toHaveLength(0);
  });

  it.each([
    ['callbackUrl', { callback: [], redirect: undefined }],
    ['redirectSuccessUrl', { callback: [], redirect: [] }],
    ['redirectFailUrl', { callback: [], redirect: ['https://other.example'] }],
  ])('400 if %s has an origin that the team has not allowed', async (field, allowedOrigins) => {
    const app = startApp(harness(), { team: { allowedOrigins } });
    const answer = await app.post('payments', { ...tea, [field]: 'https://shop.example/x' });
    expect(errorsOf(answer)).toEqual([400, `invalid_request_error origin_not_allowed ${field}`]);
    expect(requestsOf(harness())).toHaveLength(0);
  });

  it('as before to a repeat, even if the team no longer allows its origins', async () => {
    const body = { ...tea, callbackUrl: 'https://shop.example/callback' };
    const origins = ['https://shop.example'];
    const before = startApp(harness(), {
      team: { allowedOrigins: { callback: origins, redirect: origins } },
    });
    const answer = await before.post('payments', body);
    const app = startApp(harness(), { team: { allowedOrigins: { callback: [], redirect: [] } } });
    const again = await app.post('payments', body);
    expect([again.statusCode, again.json()]).toEqual([200, answer.json()]);
  });

  it('200 if they are allowed', async () => {
    const origins = ['https://shop.example'];
    const app = startApp(harness(), { team: { allowedOrigins: { callback: origins, redirect: origins } } });
    const addresses = {
      callbackUrl: 'https://shop.example/callback',
      redirectSuccessUrl: 'https://shop.example/thanks',
      redirectFailUrl: 'https://shop.example/sorry',
    };
    const answer = await app.post('payments', { ...tea, ...addresses });
    expect(answer.json()).toMatchObject({ success: true, payment: addresses });
    // The provider calls us back, and not the team.
    expect(requestsOf(harness())[0]?.callbackUrl).toMatch(
      /^https:\/\/gateway\.example\/callbacks\/sandbox\/pay_/,
    );
  });
});

describe('POST /api/v1/payments by card', () => {
  it('answers with the outcome, without the card', async () => {
    const answer = await startApp(harness()).post('payments', { ...tea, card });
    expect(answer.json()).toMatchObject({
      success: true,
      payment: { status: 'approved', phase: 'approved' },
    });
    expect(answer.body).not.toMatch(/4392963203551251|Ada Lovelace/);
    expect(requestsOf(harness())).toMatchObject([{ source: { card } }]);
  });

  it.each([
    ['a page if the bank requires one', 'init', { processingUrl: 'https://pay.example/service-1' }],
    ['200 if it is declined', 'declined', { payment: { status: 'declined' } }],
  ])('answers with %s', async (_, chargeStatus, shown) => {
    Object.assign(harness().provider, { chargeStatus, chargeNeedsPage: chargeStatus === 'init' });
    const answer = await startApp(harness()).post('payments', { ...tea, card });
    expect([answer.statusCode, answer.json()]).toMatchObject([200, shown]);
  });
});

it('POST /api/v1/payments by an unknown recurring token answers 409, by a known one 200', async () => {
  const app = startApp(harness());
  const body = { ...tea, recurringToken: recurringAlias };
  const refused = [409, 'processing_error recurring_token_not_found recurringToken'];
  expect(errorsOf(await app.post('payments', body))).toEqual(refused);
  // Both were 500: no stream has such a name.
  for (const recurringToken of ['rec a', 'récurrent'])
    expect(errorsOf(await app.post('payments', { ...body, recurringToken }))).toEqual(refused);
  await keepRecurringToken(harness());
  const others = startApp(harness(), { team: { team: 'others' } });
  expect(errorsOf(await others.post('payments', body))).toEqual(refused);
  expect((await app.post('payments', body)).json()).toMatchObject({ payment: { phase: 'approved' } });
});

describe.each([
  ['confirm', 'capture', 'void', 'approved'],
  ['decline', 'void', 'capture', 'voided'],
] as const)('POST /api/v1/payments/%s answers', (name, operation, opposite, done) => {
  const path = `payments/${name}`;

  it('200 with the payment, and the same to a repeat', async () => {
    const token = await harness().authorized('order-1');
    const app = startApp(harness());
    const answer = await app.post(path, { token });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({ success: true, token, payment: { token, phase: done } });
    expect(answer.headers['tollgate-position']).toMatch(/^\d+$/);
    const again = await app.post(path, { token });
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.json()).toEqual(answer.json());
  });

  it('202 while the outcome is unknown', async () => {
    const token = await harness().authorized('order-1');
    harness().provider.faultsOf[operation].push({ kind: 'lost-before' });
    const answer = await startApp(harness()).post(path, { token });
    expect(answer.statusCode).toBe(202);
    const phase = operation === 'capture' ? 'capturing' : 'voiding';
    expect(answer.json()).toMatchObject({ success: true, payment: { status: 'pending', phase } });
  });

  it('409 if the opposite is under way or done', async () => {
    const token = await harness().authorized('order-1');
    harness().provider.faultsOf[opposite].push({ kind: 'lost-before' });
    await harness().end(opposite, token);
    const app = startApp(harness());
    const answer = await app.post(path, { token });
    expect(errorsOf(answer)).toEqual([409, 'processing_error operation_in_progress token']);
    expect(answer.headers['retry-after']).toBe('2');
    await harness().clock.advance(3_600_000);
    await harness().inquire(token);
    const final = await app.post(path, { token });
    expect(errorsOf(final)).toEqual([409, 'processing_error payment_in_final_state token']);
  });

  it('409 if nothing is authorized', async () => {
    const created = await harness().create(teaFor('order-1', 100, { needConfirmation: true }));
    if (created.kind !== 'answered') throw new Error(created.kind);
    const answer = await startApp(harness()).post(path, { token: created.aggregate.token });
    expect(errorsOf(answer)).toEqual([409, 'processing_error payment_not_confirmable token']);
  });

  it("the provider's refusal", async () => {
    const token = await harness().authorized('order-1');
    const errorKind = 'processing_error';
    harness().provider.faultsOf[operation].push({ kind: 'refused', code: 'a_code', errorKind });
    const app = startApp(harness());
    expect(errorsOf(await app.post(path, { token }))).toEqual([409, 'processing_error a_code']);
  });

  it('503 if the provider was not reached', async () => {
    const token = await harness().authorized('order-1');
    harness().provider.faultsOf[operation].push({ kind: 'not-sent' });
    const answer = await startApp(harness()).post(path, { token });
    expect(errorsOf(answer)).toEqual([503, 'api_error provider_unavailable']);
    expect(answer.headers['retry-after']).toBe('5');
  });

  it('409 with the token if the account of the payment is no longer configured', async () => {
    const token = await harness().authorized('order-1');
    const app = startApp(harness(), { instance: harness().startInstance({ accounts: [] }) });
    const answer = await app.post(path, { token });
    expect(errorsOf(answer)).toEqual([409, 'processing_error no_account token']);
  });

  it('409 if the payment had ended otherwise before the provider could do it', async () => {
    const token = await harness().authorized('order-1');
    harness().provider.change(`${token}.1`, { status: 'expired', authorizedAmount: 0 });
    const answer = await startApp(harness()).post(path, { token });
    expect(errorsOf(answer)).toEqual([409, 'processing_error payment_in_final_state token']);
  });

  // The answer once followed the latest submission: a team that captured got 200 for a payment that another caller had voided
  // meanwhile.
  it.each([
    ['done', [], 'payment_in_final_state'],
    ['under way', [{ kind: 'lost-before' }], 'operation_in_progress'],
  ] as const)(
    '409 if it was refused and the opposite is %s before the caller is answered',
    async (_, faults, code) => {
      const token = await harness().authorized('order-1');
      const errorKind = 'processing_error';
      harness().provider.faultsOf[operation].push({ kind: 'refused', code: 'a_code', errorKind });
      harness().provider.faultsOf[opposite].push(...faults);
      const { inquirePayment } = harness().provider.provider;
      harness().provider.provider.inquirePayment = async (serviceToken) => {
        harness().provider.provider.inquirePayment = inquirePayment;
        await harness().startInstance().end(opposite, token);
        return inquirePayment(serviceToken);
      };
      const answer = await startApp(harness()).post(path, { token });
      expect(errorsOf(answer)).toEqual([409, `processing_error ${code} token`]);
    },
  );
});
