import {
  encodeCallbackRecord,
  providerCallbacksDlqTopic,
  providerCallbacksTopic,
} from '@tollgate/gateway-events';
import { type BusRecord, type MessageBus, createEmbeddedMessageBus } from '@tollgate/message-bus';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { consumeCallbacks } from './callback-consumer.ts';
import { lookForSecondPayment } from './look.ts';
import { type Harness, cause, createHarness, teaFor, times } from './testing/harness.ts';

let harness: Harness;
let bus: MessageBus;
let stopping: AbortController;
let consuming: Promise<void>;

beforeEach(async () => {
  harness = await createHarness();
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
  await harness.close();
});

function consume(): void {
  const { payments, calls, looks, provider, clock } = harness;
  const looking = {
    payments,
    calls,
    times,
    clock,
    log: silentLog,
    account: { name: 'sandbox', client: provider.client },
  };
  const deps = {
    ...{ bus, clock: systemClock, ids: systemIds, log: silentLog },
    look: looks.request,
    lookForSecondPayment: (token: string, serviceToken: string) =>
      lookForSecondPayment(looking, token, serviceToken, cause),
    noteUnapplied: async (token: string, reason: string) => {
      await payments.execute(token, { type: 'RecordUnappliedCallback', reason }, cause);
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
  const result = await harness.create(teaFor('order-1'));
  if (result.kind === 'refused') throw new Error('refused');
  return result.document.token;
}

async function parked(): Promise<BusRecord[]> {
  return bus.lastPerPartition(providerCallbacksDlqTopic);
}

it('believes the service and not the callback', async () => {
  const token = await create();
  consume();
  await callback(token, { token: 'service-1', status: 'approved', orderNumber: `${token}.1` });
  await eventually(() => expect(harness.provider.looks.retrieved).toBeGreaterThan(0));
  expect((await harness.payments.load(token))?.payment.phase).toBe('init');
});

it('applies what the service says, once for any number of callbacks in any order', async () => {
  const token = await create();
  harness.provider.change(`${token}.1`, { status: 'approved' });
  for (const status of ['approved', 'pending', 'approved', 'init']) await callback(token, { status });
  consume();
  await eventually(async () => expect((await harness.payments.load(token))?.payment.phase).toBe('approved'));
  expect(await harness.history(token)).toEqual(['PaymentRequested', 'AttemptAccepted', 'PaymentApproved']);
});

it('calls a person where an attempt that was given up took effect after all', async () => {
  const token = await create();
  const first = harness.provider.payments.get('service-1');
  if (first === undefined) throw new Error('missing');
  harness.provider.payments.set('service-9', { ...first, token: 'service-9', orderNumber: `${token}.0` });
  consume();
  await callback(token, { token: 'service-9', type: 'payment', status: 'approved' });
  await eventually(async () => {
    const attention = (await harness.payments.load(token))?.payment.attention;
    expect(attention).toMatchObject([{ code: 'second_payment_found' }]);
  });
});

it("does not take another payment of the service for one of this payment's attempts", async () => {
  const token = await create();
  const first = harness.provider.payments.get('service-1');
  if (first === undefined) throw new Error('missing');
  harness.provider.payments.set('service-9', { ...first, token: 'service-9', orderNumber: 'somebody-else' });
  consume();
  await callback(token, { token: 'service-9', type: 'payment', status: 'approved' });
  await eventually(() => expect(harness.provider.looks.retrieved).toBeGreaterThanOrEqual(2));
  expect((await harness.payments.load(token))?.payment.attention).toEqual([]);
});

it('parks a callback for a payment that does not exist, with the reason', async () => {
  consume();
  await callback('pay_unknown', { status: 'approved' });
  await eventually(async () => {
    expect((await parked()).map(({ key, headers }) => [key, headers['reason']])).toEqual([
      ['pay_unknown', 'no such payment'],
    ]);
  });
});

it('parks what is no callback at all, and goes on with the next', async () => {
  const token = await create();
  harness.provider.change(`${token}.1`, { status: 'declined' });
  await bus.publish(providerCallbacksTopic, [
    { key: token, value: new Uint8Array([0xff]), headers: { environment: 'sandbox' } },
  ]);
  await callback(token, { status: 'declined' });
  consume();
  await eventually(async () => expect((await harness.payments.load(token))?.payment.phase).toBe('declined'));
  await eventually(async () => expect(await parked()).toHaveLength(1));
});

it('parks a callback that the service gives no usable answer about, after a bounded number of looks', async () => {
  const token = await create();
  harness.provider.answersLooks = false;
  consume();
  await callback(token, { status: 'approved' });
  await eventually(async () => expect(await parked()).toHaveLength(1), { timeoutMs: 15_000 });
  expect(harness.provider.looks.retrieved).toBe(4);
});

it('that could not be applied calls a person, until a look finds the service again', async () => {
  const token = await create();
  harness.provider.change(`${token}.1`, { status: 'approved' });
  await harness.looks.request(token, cause);
  harness.provider.answersLooks = false;
  consume();
  await callback(token, { status: 'declined' });
  await eventually(
    async () => {
      const attention = (await harness.payments.load(token))?.payment.attention;
      expect(attention).toMatchObject([{ code: 'callback_not_applied' }]);
    },
    { timeoutMs: 15_000 },
  );
  harness.provider.answersLooks = true;
  await harness.looks.request(token, cause);
  expect((await harness.payments.load(token))?.payment.attention).toEqual([]);
});

it('that names a second payment is tried again when the service does not answer about that one', async () => {
  const token = await create();
  const first = harness.provider.payments.get('service-1');
  if (first === undefined) throw new Error('missing');
  harness.provider.payments.set('service-9', { ...first, token: 'service-9', orderNumber: `${token}.0` });
  const { retrievePayment } = harness.provider.client;
  let failures = 1;
  harness.provider.client.retrievePayment = (serviceToken) =>
    serviceToken === 'service-9' && failures-- > 0
      ? Promise.resolve({ kind: 'unknown', reason: 'timeout' })
      : retrievePayment(serviceToken);
  consume();
  await callback(token, { token: 'service-9', type: 'payment', status: 'approved' });
  await eventually(async () => {
    const attention = (await harness.payments.load(token))?.payment.attention;
    expect(attention).toMatchObject([{ code: 'second_payment_found' }]);
  });
});

it('that names a payment of an attempt which had failed for certain calls a person', async () => {
  harness.provider.faults.push({
    kind: 'refused',
    code: 'invalid_param',
    errorKind: 'invalid_request_error',
  });
  const token = await create();
  const late = {
    token: 'late',
    status: 'approved',
    amount: 1250,
    currency: 'EUR',
    orderNumber: `${token}.1`,
  };
  harness.provider.payments.set('late', late);
  consume();
  await callback(token, { token: 'late', status: 'approved' });
  await eventually(async () => {
    expect((await harness.payments.load(token))?.payment.attention.length).toBeGreaterThan(0);
  });
});

it('that names an earlier attempt, while the answer to a further one is awaited, calls a person', async () => {
  const { provider, clock, payments } = harness;
  // In another process than the one that takes the callbacks.
  const { create: ask } = harness.startInstance();
  provider.faults.push({ kind: 'lost-before' });
  await ask(teaFor('order-1'));
  await clock.advance(3_600_000);
  let answer = (): void => undefined;
  provider.beforeAnswer = () => new Promise((resolve) => (answer = resolve));
  const asking = ask(teaFor('order-1'));
  await eventually(() => expect(provider.requests).toHaveLength(2));
  const token = provider.requests[0]?.orderNumber?.split('.')[0] ?? '';
  expect((await payments.load(token))?.payment).toMatchObject({ phase: 'requested', attempt: { number: 2 } });
  const late = {
    token: 'late',
    status: 'approved',
    amount: 1250,
    currency: 'EUR',
    orderNumber: `${token}.1`,
  };
  provider.payments.set('late', late);
  consume();
  await callback(token, { token: 'late', status: 'approved' });
  await eventually(async () => {
    const attention = (await payments.load(token))?.payment.attention;
    expect(attention).toMatchObject([{ code: 'second_payment_found' }]);
  });
  answer();
  await asking;
});
