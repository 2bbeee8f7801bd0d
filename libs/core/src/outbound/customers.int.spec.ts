// The customer's e-mail and network address stayed in the event store without limit, even if nothing could ever need them.
import { StoreUnavailable } from '@tollgate/event-store';
import { parseDataSecrets } from '@tollgate/service-kit';
import { forgetCustomer } from '../aggregates/customers.ts';
import { describe, expect, it } from 'vitest';
import { card, teaFor } from '../testing/harness.ts';
import { keepRecurringToken, recurringAlias } from '../testing/operation-cases.ts';
import { useHarness } from '../testing/use-harness.ts';

const harness = useHarness();
const customer = { email: 'ada.lovelace@shop.example', ip: '203.0.113.77' };
const teaForAda = (orderNumber: string, more = {}) => teaFor(orderNumber, 1250, { customer, ...more });
const sentCustomers = () => harness().provider.requests.map((request) => request.customer);
const expectNothingOnDisk = () => {
  for (const text of Object.values(customer)) expect(harness().onDisk()).not.toContain(text);
};

async function streamsOfCustomers(): Promise<string[]> {
  const streams: string[] = [];
  const { signal } = new AbortController();
  const options = { from: '' as never, prefixes: ['customer-'], signal };
  for await (const item of harness().store.subscribe(options)) {
    if (item.kind === 'caught-up') return streams;
    streams.push(item.stream);
  }
  return streams;
}

/** A creation whose answer is lost as its process stops, so that no further attempt follows. */
async function loseAnswer(
  orderNumber: string,
  { kind = 'lost-before', ...more }: { kind?: 'lost-before' | 'lost-after' } & object = {},
): Promise<string> {
  harness().provider.faults.push({ kind });
  const stopping = harness().startInstance({ stopping: AbortSignal.abort() });
  const result = await stopping.create(teaForAda(orderNumber, more));
  if (result.kind !== 'answered') throw new Error(`not answered: ${result.kind}`);
  return result.aggregate.token;
}

describe('customer data in a request', () => {
  it.each([
    ['on a page', {}],
    ['by card', { card }],
    ['by an alias', { recurringToken: recurringAlias }],
  ])('is sent with a payment %s, and not stored', async (_name, more) => {
    await keepRecurringToken(harness());
    await harness().create(teaForAda('order-1', more));
    expect(sentCustomers()).toEqual([customer]);
    expect(await streamsOfCustomers()).toEqual([]);
    expectNothingOnDisk();
  });

  it('does not identify a repeat: an address may have changed', async () => {
    await harness().create(teaForAda('order-1'));
    const repeated = await harness().create(teaForAda('order-1', { customer: { ip: '2001:db8::1' } }));
    expect(repeated).toMatchObject({ kind: 'answered', replayed: true });
  });

  it.each([
    ['card', { card }],
    ['alias', { recurringToken: recurringAlias }],
  ])(
    'is not stored for a payment by %s whose answer is lost: it is never sent again',
    async (_name, more) => {
      await keepRecurringToken(harness());
      await loseAnswer('order-1', more);
      expect(await streamsOfCustomers()).toEqual([]);
    },
  );
});

describe('of a hosted payment whose answer is lost', () => {
  it('is stored encrypted, sent again by another process, and then erased', async () => {
    const { provider, startInstance, onDisk } = harness();
    const token = await loseAnswer('order-1');
    expect(await streamsOfCustomers()).toEqual([`customer-${token}`]);
    expectNothingOnDisk();
    await startInstance().inquire(token);
    expect(provider.requests.map(({ orderNumber }) => orderNumber)).toEqual([`${token}.1`, `${token}.2`]);
    expect(sentCustomers()).toEqual([customer, customer]);
    expect(await streamsOfCustomers()).toEqual([]);
    expect(onDisk()).not.toContain('sealedCustomer');
  });

  it('is stored through a second lost answer, for the third attempt', async () => {
    const { provider, inquire, startInstance } = harness();
    const token = await loseAnswer('order-1');
    provider.faults.push({ kind: 'lost-before' });
    const stopping = new AbortController();
    provider.beforeAnswer = async () => stopping.abort();
    await startInstance({ stopping: stopping.signal }).inquire(token);
    await inquire(token);
    expect(sentCustomers()).toEqual([customer, customer, customer]);
    expect(await streamsOfCustomers()).toEqual([]);
  });

  it('is erased if the payment is found', async () => {
    const token = await loseAnswer('order-1', { kind: 'lost-after' });
    await harness().inquire(token);
    expect(sentCustomers()).toEqual([customer]);
    expect(await streamsOfCustomers()).toEqual([]);
  });

  // Simulation, seed 26: a customer's address was stored without limit, since the store failed just as it was to be erased.
  it('whose erasure failed with the store is erased by an inquiry about the final payment', async () => {
    const { provider, inquire, startInstance } = harness();
    const token = await loseAnswer('order-1', { kind: 'lost-after' });
    const unlucky = startInstance({
      wrapStore: (store) => ({
        ...store,
        remove: () => Promise.reject(new StoreUnavailable('store_unavailable', 'the disk is full')),
      }),
    });
    expect(await unlucky.inquire(token)).toBe('inquired');
    provider.change(`${token}.1`, { status: 'approved' });
    await inquire(token);
    expect(await streamsOfCustomers()).toEqual([`customer-${token}`]);
    await inquire(token);
    expect(await streamsOfCustomers()).toEqual([]);
  });

  it('once erased, is not part of the further attempt, and not stored by it', async () => {
    const { inquire, store, payments } = harness();
    const token = await loseAnswer('order-1');
    await forgetCustomer(store, token);
    await inquire(token);
    expect(sentCustomers()).toEqual([customer, undefined]);
    expect((await payments.load(token))?.payment.phase).toBe('init');
    expect(await streamsOfCustomers()).toEqual([]);
  });

  it('erased before the answer was lost is not stored after it', async () => {
    const { store } = harness();
    const { customers } = harness();
    await forgetCustomer(store, 'pay_1');
    await customers.keep('pay_1', customer, {
      correlationId: 'c',
      causationId: 'c',
      actor: { kind: 'service', name: 'spec' },
    });
    expect(await customers.find('pay_1')).toBeUndefined();
  });

  it('under a retired data secret is not part of the further attempt', async () => {
    const token = await loseAnswer('order-1');
    await harness()
      .startInstance({ dataSecrets: parseDataSecrets(`k2:${'t'.repeat(32)}`) })
      .inquire(token);
    expect(sentCustomers()).toEqual([customer, undefined]);
    expect(await streamsOfCustomers()).toEqual([]);
  });
});
