// The customer's e-mail and network address stayed in the event store without limit, even if nothing could ever need them.
import { describe, expect, it } from 'vitest';
import { card, teaFor, answered } from '../testing/harness.ts';
import { keepRecurringToken, recurringAlias } from '../testing/operation-cases.ts';
import { useHarness } from '../testing/use-harness.ts';

const harness = useHarness();
const customer = { email: 'ada.lovelace@shop.example', ip: '203.0.113.77' };
const teaForAda = (orderNumber: string, more = {}) => teaFor(orderNumber, 1250, { customer, ...more });
const sentCustomers = () => harness().provider.requests.map((request) => request.customer);
const expectNothingOnDisk = () => {
  for (const text of Object.values(customer)) expect(harness().onDisk()).not.toContain(text);
};

/** A creation whose answer is lost as its process stops, so that no further attempt follows. */
async function loseAnswer(orderNumber: string): Promise<string> {
  harness().provider.faults.push({ kind: 'lost-before' });
  const stopping = harness().startInstance({ stopping: AbortSignal.abort() });
  return answered(await stopping.create(teaForAda(orderNumber))).token;
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
    expectNothingOnDisk();
  });

  it('does not identify a repeat: an address may have changed', async () => {
    await harness().create(teaForAda('order-1'));
    const repeated = await harness().create(teaForAda('order-1', { customer: { ip: '2001:db8::1' } }));
    expect(repeated).toMatchObject({ kind: 'answered', replayed: true });
  });
});

it('is not sent again with the page that an inquiry requests after a lost answer', async () => {
  const { provider, inquire, payments } = harness();
  const token = await loseAnswer('order-1');
  await inquire(token);
  expect(provider.requests.map(({ orderNumber }) => orderNumber)).toEqual([`${token}.1`, `${token}.2`]);
  expect(sentCustomers()).toEqual([customer, undefined]);
  expect((await payments.load(token))?.payment.phase).toBe('init');
  expectNothingOnDisk();
});
