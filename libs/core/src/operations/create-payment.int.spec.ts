import { systemClock } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Harness, card, cause, dataSecrets, scopeOf, teaFor } from '../testing/harness.ts';
import { useHarness } from '../testing/use-harness.ts';
import { type CreatePaymentResult, toTerms } from './create-payment.ts';
import { walletNameOf } from '../domain/requester.ts';
import { createFingerprints, deriveOperationToken } from '../tokens.ts';

const started = useHarness();
let harness: Harness;
beforeEach(() => {
  harness = started();
});

function answered(result: CreatePaymentResult) {
  if (result.kind !== 'answered') throw new Error(`not answered: ${JSON.stringify(result)}`);
  return result;
}

const phaseOf = (result: CreatePaymentResult) => answered(result).aggregate.payment.phase;
const tokenOf = (result: CreatePaymentResult) => answered(result).aggregate.token;

describe('the one rule for calling', () => {
  it("gives every attempt its own order number, and keeps the team's", async () => {
    const { provider, create } = harness;
    const result = await create(teaFor('order-1'));
    expect(provider.requests.map(({ orderNumber }) => orderNumber)).toEqual([`${tokenOf(result)}.1`]);
    // The customer knows the order by the team's number.
    expect(provider.requests[0]?.product).toMatch(/ · order-1$/);
    expect(answered(result).aggregate.payment.terms.orderNumber).toBe('order-1');
  });

  it('sends one call for any number of concurrent requests, over several processes', async () => {
    const { provider, startInstance } = harness;
    // Requests of other processes wait while the store works, so time must be the store's own.
    const instances = [1, 2, 3].map(() => startInstance({ clock: systemClock }));
    const asking = instances.flatMap(({ create }) =>
      Array.from({ length: 10 }, () => create(teaFor('order-1'))),
    );
    const results = (await Promise.all(asking)).map(answered);
    expect(provider.requests).toHaveLength(1);
    expect(new Set(results.map(({ aggregate }) => aggregate.payment.processingUrl))).toEqual(
      new Set(['https://pay.example/service-1']),
    );
    expect(results.filter(({ replayed }) => !replayed)).toHaveLength(1);
  });
});

describe('the outcome of a call', () => {
  it('is accepted: the page is answered and recorded', async () => {
    const result = await harness.create(teaFor('order-1'));
    expect(phaseOf(result)).toBe('init');
    expect(await harness.history(tokenOf(result))).toEqual(['PaymentRequested', 'AttemptAccepted']);
  });

  it('is refused: nothing was charged, and the payment stays readable', async () => {
    harness.provider.faults.push({
      kind: 'refused',
      code: 'invalid_param',
      errorKind: 'invalid_request_error',
    });
    const result = await harness.create(teaFor('order-1'));
    expect(phaseOf(result)).toBe('failed');
    expect(await harness.history(tokenOf(result))).toEqual([
      'PaymentRequested',
      'AttemptRefused',
      'PaymentFailed',
    ]);
    expect((await harness.payments.load(tokenOf(result)))?.payment.errors).toMatchObject([
      { code: 'invalid_param' },
    ]);
  });

  it('provably not sent: another attempt follows', async () => {
    harness.provider.faults.push({ kind: 'not-sent' });
    const creating = harness.passTime(harness.create(teaFor('order-1')));
    expect(phaseOf(await creating)).toBe('init');
    expect(harness.provider.requests).toHaveLength(1);
  });

  it('not sent three times: the payment has failed', async () => {
    harness.provider.faults.push({ kind: 'not-sent' }, { kind: 'not-sent' }, { kind: 'not-sent' });
    const creating = harness.passTime(harness.create(teaFor('order-1')));
    expect(phaseOf(await creating)).toBe('failed');
    expect(harness.provider.requests).toHaveLength(0);
  });

  it.each(['lost-before', 'lost-after'] as const)(
    'is unknown (%s): no error, and a card is never charged again',
    async (kind) => {
      harness.provider.faults.push({ kind });
      const result = await harness.create(teaFor('order-1', 1250, { card }));
      expect(phaseOf(result)).toBe('unresolved');
      expect(harness.provider.requests).toHaveLength(1);
    },
  );
});

describe("the provider's answer to a call", () => {
  it('that its number exists proves that it arrived: an inquiry finds it', async () => {
    const { provider, create, payments } = harness;
    const reason = 'the order number exists already';
    provider.provider.authorize = () => Promise.resolve({ kind: 'unknown', reason });
    const token = tokenOf(await create(teaFor('order-1', 1250, { card })));
    expect((await payments.load(token))?.payment.phase).toBe('unresolved');
    provider.payments.set('service-7', {
      serviceToken: 'service-7',
      status: 'approved',
      amount: 1250,
      currency: 'EUR',
      authorizedAmount: 0,
      refundedAmount: 0,
      orderNumber: `${token}.1`,
    });
    expect(phaseOf(await create(teaFor('order-1', 1250, { card })))).toBe('approved');
  });

  it('of another amount opens a review', async () => {
    const { provider, create } = harness;
    provider.provider.authorize = () =>
      Promise.resolve({
        kind: 'accepted',
        serviceToken: 'service-1',
        processingUrl: 'https://pay.example/service-1',
        amount: 125_000,
        currency: 'EUR',
      });
    const { aggregate: view } = answered(await create(teaFor('order-1')));
    expect(view.payment.reviews).toMatchObject([{ evidence: { kind: 'terms_disagree' } }]);
  });
});

describe('a stop', () => {
  it('begins no further attempt; the inquiry schedule continues after the restart', async () => {
    const { provider, startInstance, passTime, history } = harness;
    const stopping = new AbortController();
    provider.provider.authorize = () => {
      stopping.abort();
      return Promise.resolve({ kind: 'not-sent', reason: 'ECONNREFUSED' });
    };
    const result = await passTime(startInstance({ stopping: stopping.signal }).create(teaFor('order-1')));
    expect(phaseOf(result)).toBe('unresolved');
    expect(await history(tokenOf(result))).toEqual(['PaymentRequested', 'AttemptUnresolved']);
  });

  it('fails a card payment that was not sent: its card is not stored', async () => {
    const { provider, startInstance, passTime, history } = harness;
    const stopping = new AbortController();
    provider.provider.authorize = () => {
      stopping.abort();
      return Promise.resolve({ kind: 'not-sent', reason: 'ECONNREFUSED' });
    };
    const instance = startInstance({ stopping: stopping.signal });
    const result = await passTime(instance.create(teaFor('order-1', 1250, { card })));
    expect(phaseOf(result)).toBe('failed');
    expect(await history(tokenOf(result))).toEqual(['PaymentRequested', 'AttemptNotSent', 'PaymentFailed']);
  });

  it('does not wait for inquiries that have not begun', async () => {
    const { provider, startInstance, create } = harness;
    const stopping = new AbortController();
    const { inquiries } = startInstance({ stopping: stopping.signal });
    const token = tokenOf(await create(teaFor('order-1')));
    stopping.abort();
    expect(await inquiries.request(token, cause)).toBe('failed');
    expect(provider.inquiries.retrieved).toBe(0);
    await inquiries.idle();
  });

  it('waits for every call under way', async () => {
    const { sender, create, provider, payments } = harness;
    const releases: (() => void)[] = [];
    provider.beforeAnswer = () => new Promise((resolve) => releases.push(resolve));
    const sending = [create(teaFor('order-1')), create(teaFor('order-2'))];
    await eventually(() => expect(releases).toHaveLength(2));
    let isIdle = false;
    const idle = sender.idle().then(() => (isIdle = true));
    releases[0]?.();
    await Promise.race(sending);
    await payments.load('pay_other');
    expect(isIdle).toBe(false);
    releases[1]?.();
    await Promise.all([...sending, idle]);
    expect(isIdle).toBe(true);
  });
});

describe('a replay', () => {
  it('is answered in time, however long the inquiry takes', async () => {
    const { provider, create, passTime } = harness;
    provider.faults.push({ kind: 'lost-before' });
    const charge = teaFor('order-1', 1250, { card });
    await create(charge);
    let release = (): void => undefined;
    provider.provider.listPayments = () =>
      new Promise((resolve) => (release = () => resolve({ kind: 'unknown', reason: 'timeout' })));
    expect(phaseOf(await passTime(create(charge)))).toBe('unresolved');
    release();
    await harness.inquiries.idle();
  });

  it('finds the payment whose answer was lost', async () => {
    harness.provider.faults.push({ kind: 'lost-after' });
    await harness.create(teaFor('order-1', 1250, { card }));
    const again = await harness.create(teaFor('order-1', 1250, { card }));
    expect(answered(again)).toMatchObject({ replayed: true });
    expect(phaseOf(again)).toBe('approved');
    expect(harness.provider.requests).toHaveLength(1);
  });

  it('with other terms is refused', async () => {
    await harness.create(teaFor('order-1'));
    expect(await harness.create(teaFor('order-1', 9999))).toMatchObject({
      kind: 'refused',
      refusal: { code: 'idempotency_key_reused' },
    });
    expect(harness.provider.requests).toHaveLength(1);
  });

  it('while another process is still calling is answered as in progress', async () => {
    const { payments, create, clock } = harness;
    // A process in the middle of its call.
    await announce(payments, teaFor('order-1'), clock.now(), 3_600_000);
    const repeating = harness.passTime(create(teaFor('order-1')));
    expect(await repeating).toMatchObject({
      kind: 'refused',
      refusal: { code: 'operation_in_progress' },
    });
    expect(harness.provider.requests).toEqual([]);
  });
});

/** Appends the announcement of a creation like another process would, and sends nothing. */
async function announce(
  payments: Harness['payments'],
  input: ReturnType<typeof teaFor>,
  sendBy: number,
  answerMs = 1,
): Promise<string> {
  const { caller, key, request } = input;
  const token = deriveOperationToken('pay', scopeOf(caller), key);
  const attempt = { number: 1, account: 'main', providerOrderNumber: `${token}.1`, sendBy };
  await payments.execute(
    token,
    {
      type: 'RequestPayment',
      environment: caller.environment,
      team: caller.team,
      wallet: walletNameOf(caller),
      askedBy: caller.keyId,
      terms: toTerms(request),
      ...createFingerprints(dataSecrets)(request),
      attempt: { ...attempt, answerBy: sendBy + answerMs, quietUntil: sendBy + answerMs + 1 },
    },
    cause,
  );
  return token;
}

describe('after a crash between the announcement and the answer', () => {
  it.each([
    { name: 'a call that took effect is found', reached: true, sent: 1 },
    { name: 'a call that never took effect is made again under another number', reached: false, sent: 1 },
  ])('$name', async ({ reached, sent }) => {
    const { payments, provider, clock, inquiries, history } = harness;
    const token = await announce(payments, teaFor('order-1'), clock.now());
    if (reached)
      provider.payments.set('lost', {
        serviceToken: 'lost',
        status: 'init',
        amount: 1250,
        currency: 'EUR',
        authorizedAmount: 0,
        refundedAmount: 0,
        orderNumber: `${token}.1`,
        processingUrl: 'https://pay.example/lost',
      });
    expect(await inquiries.request(token, cause)).toBe('awaiting-answer');
    await clock.advance(2_000);
    expect(await inquiries.request(token, cause)).toBe('inquired');
    expect((await payments.load(token))?.payment.phase).toBe('init');
    expect(provider.requests).toHaveLength(reached ? 0 : sent);
    const end = reached ? ['AttemptAccepted'] : ['AttemptNotFound', 'AttemptStarted', 'AttemptAccepted'];
    expect(await history(token)).toEqual(['PaymentRequested', 'AttemptUnresolved', ...end]);
  });

  it('two concurrent inquiries in two processes lead to one further attempt', async () => {
    const { payments, provider, clock, startInstance } = harness;
    const token = await announce(payments, teaFor('order-1'), clock.now());
    const instances = [startInstance(), startInstance(), startInstance()];
    const inquire = () => Promise.all(instances.map(({ inquiries }) => inquiries.request(token, cause)));
    await inquire();
    await clock.advance(2_000);
    await inquire();
    expect(provider.requests).toHaveLength(1);
  });
});

describe('an inquiry', () => {
  it("records the provider's status, once", async () => {
    const { provider, inquiries, create, history } = harness;
    const token = tokenOf(await create(teaFor('order-1')));
    provider.change(`${token}.1`, { status: 'approved', sanitizedMask: '439296******1251' });
    await inquiries.request(token, cause);
    await inquiries.request(token, cause);
    expect(await history(token)).toEqual(['PaymentRequested', 'AttemptAccepted', 'PaymentApproved']);
  });

  it('about a payment that the provider has lost opens a review', async () => {
    const { provider, inquiries, create, payments } = harness;
    const token = tokenOf(await create(teaFor('order-1')));
    provider.payments.clear();
    await inquiries.request(token, cause);
    await inquiries.request(token, cause);
    expect((await payments.load(token))?.payment.reviews).toMatchObject([
      { evidence: { kind: 'only_here' } },
    ]);
  });

  it('is shared by a burst of hints', async () => {
    const { provider, inquiries, create } = harness;
    const token = tokenOf(await create(teaFor('order-1')));
    await Promise.all(Array.from({ length: 50 }, () => inquiries.request(token, cause)));
    expect(provider.inquiries.retrieved).toBe(2);
  });
});
