import { encodeCallbackRecord, providerCallbacksTopic } from '@tollgate/gateway-api';
import { type MessageBus, createEmbeddedMessageBus } from '@tollgate/message-bus';
import { type Payment, subjectsOf, inquireNamed } from '@tollgate/core';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DeferredCallback, consumeCallbacks } from './callback-consumer.ts';
import {
  type FakeProvider,
  createFakeProvider,
  type Harness,
  accountNamed,
  cause,
  payoutFor,
  quietMs,
  teaFor,
  useHarness,
  answered,
} from '@tollgate/core/testing';
import { readCallback } from './testing/read-callback.ts';

let second: FakeProvider;
const started = useHarness(() => {
  second = createFakeProvider();
  return { moreAccounts: [accountNamed('second', second.provider, { priority: 1 })] };
});
let harness: Harness;
let nudges: number;
let handled: number;
let bus: MessageBus;
let stopping: AbortController;
let consuming: Promise<void>;

beforeEach(() => {
  harness = started();
  nudges = 0;
  handled = 0;
  bus = createEmbeddedMessageBus({
    store: harness.store,
    clock: systemClock,
    ids: systemIds,
    holder: 'spec',
  });
  stopping = new AbortController();
});
afterEach(async () => {
  stopping.abort();
  await consuming;
  await bus.close();
});

function consume(): void {
  const { inquire, inside } = harness;
  const counting: MessageBus = {
    ...bus,
    subscribe: (options, handle) =>
      bus.subscribe(options, async (batch) => {
        await handle(batch);
        handled += batch.length;
      }),
  };
  const deps = {
    bus: counting,
    clock: systemClock,
    ids: systemIds,
    log: silentLog,
    inquire,
    inquireNamed: (token: string, serviceToken: string) => inquireNamed(inside, token, serviceToken, cause),
    readCallback,
    nudgeDisputes: () => (nudges += 1),
    async defer({ token, ...named }: DeferredCallback) {
      const deferred = { type: 'DeferCallback', ...named, deferredAt: harness.clock.now() } as const;
      await subjectsOf(inside, token).execute(token, deferred, cause);
    },
  };
  consuming = consumeCallbacks(deps, stopping.signal);
}

async function callback(token: string, body: object): Promise<void> {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const record = encodeCallbackRecord({ environment: 'sandbox', token, body: bytes, receivedAt: 0 });
  await bus.publish(providerCallbacksTopic, [record]);
}

async function create(): Promise<string> {
  return answered(await harness.create(teaFor('order-1'))).token;
}

/** A payment that the provider has under another token. */
function addPayment(orderNumber: string, { at = harness.provider } = {}): void {
  const money = { amount: 1250, currency: 'EUR', authorizedAmount: 0, refundedAmount: 0 };
  at.payments.set('service-9', { serviceToken: 'service-9', status: 'approved', ...money, orderNumber });
}

async function paymentOf(token: string): Promise<Payment> {
  const known = await harness.payments.load(token);
  if (known === undefined) throw new Error(`there is no payment ${token}`);
  return known.payment;
}
const codesOf = async (token: string) => (await paymentOf(token)).reviews.map(({ code }) => code);
const namedByDeferred = async (token: string) =>
  (await paymentOf(token)).deferredCallbacks.map(({ serviceToken }) => serviceToken);

it('trusts the inquiry, not the callback', async () => {
  const token = await create();
  consume();
  await callback(token, { token: 'service-1', status: 'approved', orderNumber: `${token}.1` });
  await eventually(() => expect(handled).toBe(1));
  expect(harness.provider.inquiries.retrieved).toBeGreaterThan(0);
  expect((await paymentOf(token)).phase).toBe('init');
});

it('applies the inquired status once, for any number of callbacks in any order', async () => {
  const token = await create();
  harness.provider.change(`${token}.1`, { status: 'approved' });
  for (const status of ['approved', 'pending', 'approved', 'init']) await callback(token, { status });
  consume();
  await eventually(async () => expect((await paymentOf(token)).phase).toBe('approved'));
  expect(await harness.history(token)).toEqual(['PaymentRequested', 'AttemptAccepted', 'PaymentApproved']);
});

it('opens a review if an abandoned attempt through another account took effect after all', async () => {
  const token = await create();
  addPayment(`${token}.0`, { at: second });
  consume();
  await callback(token, { token: 'service-9', type: 'payment', status: 'approved' });
  await eventually(async () => {
    const reviews = (await paymentOf(token)).reviews;
    expect(reviews).toMatchObject([{ evidence: { kind: 'second_payment_found' } }]);
  });
});

it("does not take a foreign payment for one of this payment's attempts", async () => {
  const token = await create();
  addPayment('somebody-else');
  consume();
  await callback(token, { token: 'service-9', type: 'payment', status: 'approved' });
  await eventually(() => expect(handled).toBe(1));
  expect(harness.provider.inquiries.retrieved).toBe(2);
  expect((await paymentOf(token)).reviews).toEqual([]);
});

it('skips a record that is not a callback, and callbacks of unknown tokens, and continues with the next', async () => {
  const token = await create();
  harness.provider.change(`${token}.1`, { status: 'declined' });
  await bus.publish(providerCallbacksTopic, [
    { key: token, value: new Uint8Array([0xff]), headers: { environment: 'sandbox' } },
  ]);
  await callback('pay_unknown', { status: 'approved' });
  await callback('po_unknown', { type: 'payout', status: 'approved' });
  await callback(token, { status: 'declined' });
  consume();
  await eventually(async () => expect((await paymentOf(token)).phase).toBe('declined'));
  await eventually(() => expect(handled).toBe(4));
});

it('is deferred once, after one inquiry without a usable answer, until an inquiry succeeds', async () => {
  const token = await create();
  harness.provider.change(`${token}.1`, { status: 'approved' });
  await harness.inquiries.request(token, cause);
  harness.provider.answersInquiries = false;
  const before = harness.provider.inquiries.retrieved;
  consume();
  await callback(token, { status: 'declined' });
  await eventually(() => expect(handled).toBe(1));
  expect(harness.provider.inquiries.retrieved).toBe(before + 1);
  // As after a crash before the batch was committed.
  await callback(token, { status: 'declined' });
  await eventually(() => expect(handled).toBe(2));
  const { deferredCallbacks, reviews } = await paymentOf(token);
  expect([deferredCallbacks, reviews]).toMatchObject([[{ serviceToken: null }], []]);
  harness.provider.answersInquiries = true;
  await harness.inquiries.request(token, cause);
  expect((await harness.history(token)).slice(-2)).toEqual(['CallbackDeferred', 'CallbackInquired']);
});

// The name was once dropped on deferral: an inquiry about our own payment was mistaken for one about the named payment.
describe('that names a payment which cannot be inquired on arrival', () => {
  async function deferred(): Promise<string> {
    const token = await create();
    const { inquirePayment } = harness.provider.provider;
    const hidden = (serviceToken: string) => serviceToken === 'service-9' && !isShown;
    harness.provider.provider.inquirePayment = (serviceToken) =>
      hidden(serviceToken)
        ? Promise.resolve({ kind: 'unknown', reason: 'timeout' })
        : inquirePayment(serviceToken);
    let isShown = false;
    consume();
    await callback(token, { token: 'service-9', type: 'payment', status: 'approved' });
    await eventually(async () => expect(await namedByDeferred(token)).toEqual(['service-9']));
    await harness.inquire(token);
    expect(await namedByDeferred(token)).toEqual(['service-9']);
    isShown = true;
    return token;
  }

  it('is inquired until the provider shows that it is our attempt', async () => {
    const token = await deferred();
    addPayment(`${token}.0`, { at: second });
    await harness.inquire(token);
    expect(await codesOf(token)).toEqual(['discrepancy']);
    expect(await namedByDeferred(token)).toEqual([]);
  });

  it('is inquired until the provider shows that no account has it', async () => {
    const token = await deferred();
    second.answersInquiries = false;
    await harness.inquire(token);
    expect(await namedByDeferred(token)).toEqual(['service-9']);
    second.answersInquiries = true;
    await harness.inquire(token);
    expect([await namedByDeferred(token), await codesOf(token)]).toEqual([[], []]);
  });

  it('is inquired until the provider shows that it is foreign', async () => {
    const token = await deferred();
    addPayment('somebody-else');
    await harness.inquire(token);
    expect([await namedByDeferred(token), await codesOf(token)]).toEqual([[], []]);
  });
});

describe('a callback about a refund', () => {
  async function acceptedRefund(): Promise<string> {
    harness.provider.refundStatus = 'pending';
    const token = await harness.approved('order-1');
    await harness.refund(token, 'refund-1', 60);
    return token;
  }
  const refundsOf = async (token: string) => (await paymentOf(token)).refunds;

  // It was believed: a forged callback freed the reservation, and money that the provider still refunded was refunded twice.
  it('that declines it neither ends it nor opens a review: the refunded sum decides', async () => {
    const token = await acceptedRefund();
    const serviceRefundToken = (await refundsOf(token))[0]?.serviceRefundToken;
    consume();
    await callback(token, { type: 'refund', status: 'declined', token: serviceRefundToken });
    await eventually(() => expect(handled).toBe(1));
    expect(await refundsOf(token)).toMatchObject([{ state: 'accepted' }]);
    await harness.clock.advance(quietMs);
    await callback(token, { type: 'refund', status: 'declined', token: serviceRefundToken });
    await eventually(() => expect(handled).toBe(2));
    expect((await paymentOf(token)).reviews).toEqual([]);
    await harness.clock.advance(3 * 24 * 3_600_000);
    await callback(token, { type: 'refund', status: 'declined', token: serviceRefundToken });
    const review = { code: 'refund_unresolved', evidence: { amount: 60 } };
    await eventually(async () => expect((await paymentOf(token)).reviews).toMatchObject([review]));
    expect(await harness.refund(token, 'refund-2', 40)).toMatchObject({
      refusal: { code: 'operation_in_progress' },
    });
  });

  it('that approves it and is true approves it, by the inquired payment', async () => {
    const token = await acceptedRefund();
    harness.provider.change(`${token}.1`, { refundedAmount: 60 });
    consume();
    await callback(token, { type: 'refund', status: 'approved', token: 'whatever' });
    await eventually(async () => expect(await refundsOf(token)).toMatchObject([{ state: 'approved' }]));
  });
});

it('about a dispute triggers a read of the list of disputes and an inquiry of its payment', async () => {
  const token = await create();
  consume();
  await callback(token, { type: 'dispute', status: 'open', token: 'dispute-1' });
  await eventually(() => expect([nudges, harness.provider.inquiries.retrieved]).toEqual([1, 1]));
});

it('about anything else triggers nothing', async () => {
  const token = await create();
  consume();
  await callback(token, { status: 'approved' });
  await eventually(() => expect(harness.provider.inquiries.retrieved).toBe(1));
  expect(nudges).toBe(0);
});

describe('a callback about a payout', () => {
  async function pendingPayout(): Promise<string> {
    harness.provider.payoutStatus = 'pending';
    return answered(await harness.payOut(payoutFor('order-1'))).token;
  }
  const payoutOf = async (token: string) => (await harness.payouts.load(token))?.payout;

  it('triggers an inquiry, and is not trusted', async () => {
    const token = await pendingPayout();
    consume();
    await callback(token, { type: 'payout', status: 'declined' });
    await eventually(() => expect(harness.provider.inquiries.retrieved).toBe(1));
    expect((await payoutOf(token))?.phase).toBe('pending');
    for (const payout of harness.provider.payouts.values()) payout.status = 'approved';
    await callback(token, { type: 'payout', status: 'approved' });
    await eventually(async () => expect((await payoutOf(token))?.phase).toBe('approved'));
  });

  it('that names another payout under the same number opens a review', async () => {
    const token = await pendingPayout();
    const [first] = harness.provider.payouts.values();
    if (first === undefined) throw new Error('missing');
    harness.provider.payouts.set('service-9', { ...first, serviceToken: 'service-9' });
    consume();
    await callback(token, { type: 'payout', status: 'approved', token: 'service-9' });
    await eventually(async () =>
      expect((await payoutOf(token))?.reviews).toMatchObject([{ evidence: { kind: 'second_payout_found' } }]),
    );
  });

  it('that names a foreign payout opens no review', async () => {
    const token = await pendingPayout();
    const [first] = harness.provider.payouts.values();
    if (first === undefined) throw new Error('missing');
    harness.provider.payouts.set('service-9', {
      ...first,
      serviceToken: 'service-9',
      orderNumber: 'somebody-else',
    });
    consume();
    await callback(token, { type: 'payout', status: 'approved', token: 'service-9' });
    await eventually(() => expect(handled).toBe(1));
    expect((await payoutOf(token))?.reviews).toEqual([]);
  });
});
