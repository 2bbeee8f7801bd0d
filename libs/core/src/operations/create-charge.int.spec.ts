import { systemClock } from '@tollgate/service-kit';
/** Payments charged without our page, by card or recurring token, and their accounts. */
import { describe, expect, it } from 'vitest';
import { type FakeProvider, createFakeProvider } from '../testing/fake-provider.ts';
import { failingStore } from '../testing/failing-stores.ts';
import { accountNamed, card, teaFor, answered } from '../testing/harness.ts';
import { keepRecurringToken, recurringAlias } from '../testing/operation-cases.ts';
import { useHarness } from '../testing/use-harness.ts';
import { deriveRecurringAlias } from '../tokens.ts';
import type { CreatePaymentResult } from './create-payment.ts';

let second: FakeProvider;
const harness = useHarness(() => {
  second = createFakeProvider();
  return {
    moreAccounts: [accountNamed('second', second.provider, { priority: 1, currencies: ['EUR', 'USD'] })],
  };
});

const paymentOf = (result: CreatePaymentResult) => answered(result).payment;

const byCard = (orderNumber: string, more: Partial<typeof card> = {}) =>
  teaFor(orderNumber, 1250, { card: { ...card, ...more } });
const byRecurring = (orderNumber: string, recurringToken = recurringAlias) =>
  teaFor(orderNumber, 1250, { recurringToken });

/** Calls per account. */
const sent = () => [harness().provider.received.length, second.received.length];

describe('a payment by card', () => {
  it('reaches the provider with its card, and leaves no trace of it in the store', async () => {
    // A unique card verification value, so that it cannot be found by chance.
    const secrets = { pan: '4392963203551251', cvv: '7319' };
    const result = await harness().create(byCard('order-1', secrets));
    await harness().create(byCard('order-1', secrets));
    expect(harness().provider.requests).toMatchObject([{ source: { card: { ...card, ...secrets } } }]);
    expect(paymentOf(result).terms).not.toHaveProperty('card');
    const events = await everything();
    expect(events.length).toBeGreaterThan(1);
    for (const event of events) {
      expect(event).not.toContain(secrets.pan);
      expect(event).not.toMatch(/"cvv"|7319"|Ada Lovelace/);
    }
    await harness().store.close();
    expect(harness().onDisk()).toContain('order-1');
    expect(harness().onDisk()).not.toContain(secrets.pan);
    expect(harness().onDisk()).not.toContain('Ada Lovelace');
  });

  it('whose bank asks for a page is answered with the page', async () => {
    Object.assign(harness().provider, { chargeStatus: 'init', chargeNeedsPage: true });
    const payment = paymentOf(await harness().create(byCard('order-1')));
    expect(payment).toMatchObject({ phase: 'init', processingUrl: 'https://pay.example/service-1' });
  });

  // Of twenty concurrent requests one was answered as approved, the others as begun.
  it('is answered alike to all concurrent requests', async () => {
    const instances = [1, 2].map(() => harness().startInstance({ clock: systemClock }));
    const results = await Promise.all(
      instances.flatMap(({ create }) => Array.from({ length: 4 }, () => create(byCard('order-1')))),
    );
    expect(results.map((result) => paymentOf(result).phase)).toEqual(results.map(() => 'approved'));
    expect(sent()).toEqual([1, 0]);
  });

  it('is answered even if the inquiry fails', async () => {
    harness().provider.answersInquiries = false;
    expect(paymentOf(await harness().create(byCard('order-1'))).phase).toBe('init');
  });

  it('is refused under the same key with another number', async () => {
    await harness().create(byCard('order-1'));
    const refusal = { code: 'idempotency_key_reused' };
    const other = { pan: '4730198364688516' };
    expect(await harness().create(byCard('order-1', other))).toEqual({ kind: 'refused', refusal });
    expect(sent()).toEqual([1, 0]);
  });

  // A fingerprint over them revealed both to anyone who tried all values; nothing else of them is stored.
  it.each([
    ['expiry', { expires: '01/2040' }],
    ['holder', { holder: 'Charles Babbage' }],
  ])('is the same request with another %s', async (_name, change) => {
    await harness().create(byCard('order-1'));
    const repeated = await harness().create(byCard('order-1', change));
    expect(repeated).toMatchObject({ kind: 'answered', replayed: true });
    expect(sent()).toEqual([1, 0]);
  });
});

/** Every event in the store, as text. */
async function everything(): Promise<string[]> {
  const events: string[] = [];
  const { signal } = new AbortController();
  for await (const item of harness().store.subscribe({ from: '' as never, prefixes: [''], signal })) {
    if (item.kind !== 'event') break;
    events.push(JSON.stringify(item));
  }
  return events;
}

describe('a recurring token', () => {
  it('is returned as an alias, which charges the same account again', async () => {
    const { token } = answered(await harness().create(teaFor('order-1', 1250, { recurring: true })));
    harness().provider.change(`${token}.1`, { status: 'approved' });
    await harness().inquire(token);
    const alias = (await harness().payments.load(token))?.payment.recurringToken;
    expect(alias).toBe(deriveRecurringAlias('sandbox', token));
    await harness().create(byRecurring('order-2', alias));
    expect(harness().provider.requests[1]).toMatchObject({
      source: { recurringToken: 'service-recurring-service-1' },
      isRecurring: false,
    });
  });

  it('that was not requested is not stored', async () => {
    const { token } = answered(await harness().create(teaFor('order-1')));
    harness().provider.change(`${token}.1`, { status: 'approved', recurringToken: 'service-recurring' });
    await harness().inquire(token);
    expect((await harness().payments.load(token))?.payment.recurringToken).toBeUndefined();
    expect(await harness().recurringTokens.find(deriveRecurringAlias('sandbox', token))).toBeUndefined();
  });

  it('never changes to another card', async () => {
    const { token } = answered(await harness().create(teaFor('order-1', 1250, { recurring: true })));
    harness().provider.change(`${token}.1`, { status: 'approved' });
    await harness().inquire(token);
    harness().provider.change(`${token}.1`, { recurringToken: 'service-recurring-of-another' });
    await harness().inquire(token);
    const kept = await harness().recurringTokens.find(deriveRecurringAlias('sandbox', token));
    expect(kept?.serviceRecurringToken).toBe('service-recurring-service-1');
  });

  it("is charged by the provider's token, and its alias is never sent", async () => {
    await keepRecurringToken(harness());
    const payment = paymentOf(await harness().create(byRecurring('order-1')));
    expect(payment).toMatchObject({ phase: 'approved', terms: { recurringToken: recurringAlias } });
    expect(harness().provider.requests).toMatchObject([{ source: { recurringToken: 'service-recurring' } }]);
    expect(JSON.stringify(harness().provider.requests)).not.toContain(recurringAlias);
  });

  it.each([
    ['of another team', { team: 'others' }],
    ['of another environment', { environment: 'production' as const }],
  ])('%s is not found: nothing is recorded or sent', async (_name, change) => {
    await keepRecurringToken(harness(), change);
    const refusal = { code: 'recurring_token_not_found' };
    expect(await harness().create(byRecurring('order-1'))).toEqual({ kind: 'refused', refusal });
    expect(await harness().create(byRecurring('order-1', 'rec_unknown'))).toEqual({
      kind: 'refused',
      refusal,
    });
    expect(sent()).toEqual([0, 0]);
    // The idempotency key stays unused.
    expect(paymentOf(await harness().create(teaFor('order-1'))).phase).toBe('init');
  });

  it('uses no other account, even if the call was not sent', async () => {
    await keepRecurringToken(harness(), { account: 'second' });
    second.faults.push({ kind: 'not-sent' });
    const payment = paymentOf(await harness().passTime(harness().create(byRecurring('order-1'))));
    expect(payment).toMatchObject({ phase: 'approved', attempt: { number: 2, account: 'second' } });
    expect(second.requests).toMatchObject([{ source: { recurringToken: 'service-recurring' } }]);
    expect(sent()).toEqual([0, 1]);
  });

  it('uses no other account if its own refuses us', async () => {
    await keepRecurringToken(harness(), { account: 'second' });
    second.faults.push({ kind: 'refused', code: 'merchant_disabled', errorKind: 'settings_error' });
    expect(paymentOf(await harness().create(byRecurring('order-1'))).phase).toBe('failed');
    expect(sent()).toEqual([0, 1]);
  });

  it('of an account that is no longer configured finds no account, and nothing is recorded', async () => {
    await keepRecurringToken(harness(), { account: 'gone' });
    expect(await harness().create(byRecurring('order-1'))).toEqual({ kind: 'no-account' });
    expect(paymentOf(await harness().create(teaFor('order-1'))).phase).toBe('init');
  });
});

describe('the account of a creation', () => {
  const refusedAs = (errorKind: string) => ({ kind: 'refused', code: 'a_code', errorKind }) as const;
  const other = { attempt: { number: 2, account: 'second' } };

  it.each([
    ['is the second one if the call was not sent', { kind: 'not-sent' } as const, other, [0, 1]],
    ['is the second one if the first refuses us', refusedAs('authentication_error'), other, [1, 1]],
    ['is the second one if the first is not set up', refusedAs('settings_error'), other, [1, 1]],
    ['stays if the request is refused', refusedAs('invalid_request_error'), { phase: 'failed' }, [1, 0]],
    ['stays if the payment is refused', refusedAs('processing_error'), { phase: 'failed' }, [1, 0]],
    ['stays if the outcome is unknown', { kind: 'lost-before' } as const, { phase: 'unresolved' }, [1, 0]],
  ])('%s', async (_name, fault, expected, calls) => {
    harness().provider.faults.push(fault);
    const payment = paymentOf(await harness().passTime(harness().create(byCard('order-1'))));
    expect(payment).toMatchObject(expected);
    expect(second.requests.map(({ source }) => source)).toEqual(calls[1] === 1 ? [{ card }] : []);
    expect(sent()).toEqual(calls);
  });

  it('that refuses us is not tried again, even if it is the only one', async () => {
    const only = harness().startInstance({ accounts: [accountNamed('main', harness().provider.provider)] });
    harness().provider.faults.push({ kind: 'refused', code: 'x', errorKind: 'settings_error' });
    expect(paymentOf(await only.create(teaFor('order-1'))).phase).toBe('failed');
    expect(sent()).toEqual([1, 0]);
    expect(only.accounts.health()).toMatchObject([{ callsUnderWay: 0 }]);
  });

  it('is not tried if the end of the first call cannot be recorded', async () => {
    const wrapStore = failingStore((nth) => (nth === 2 ? 'refused' : 'ends well'));
    const instance = harness().startInstance({ wrapStore });
    harness().provider.faults.push({ kind: 'not-sent' });
    const creating = harness().passTime(instance.create(teaFor('order-1')));
    await expect(creating).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(sent()).toEqual([0, 0]);
  });

  it('of all of them, at most three are tried', async () => {
    const unreachable = { kind: 'not-sent' } as const;
    harness().provider.faults.push(unreachable, unreachable, unreachable);
    second.faults.push(unreachable, unreachable, unreachable);
    const payment = paymentOf(await harness().passTime(harness().create(teaFor('order-1'))));
    expect(payment).toMatchObject({ phase: 'failed', failure: 'not-sent', attempt: { number: 3 } });
    expect([harness().provider.faults.length, second.faults.length]).toEqual([1, 2]);
  });

  it('may not exist for a currency: nothing is recorded', async () => {
    const only = harness().startInstance({
      accounts: [accountNamed('main', harness().provider.provider, { currencies: ['EUR'] })],
    });
    const inPounds = teaFor('order-1', 1250, { currency: 'GBP' });
    expect(await only.create(inPounds)).toEqual({ kind: 'no-account' });
    expect(await only.create(teaFor('order-2'))).toMatchObject({ kind: 'answered' });
    expect((await only.create({ ...teaFor('order-1') })).kind).toBe('answered');
  });
});

describe('later calls of a payment use the account that took it, despite another preference of the routing', () => {
  const preferring = () =>
    harness().startInstance({
      accounts: [
        accountNamed('main', harness().provider.provider),
        accountNamed('second', second.provider, { priority: -1 }),
      ],
    });

  it('refunds and inquiries', async () => {
    const token = await harness().approved('order-1', 100);
    const instance = preferring();
    expect(await instance.refund(token, 'a')).toMatchObject({ aggregate: { refund: { state: 'approved' } } });
    expect(sent()).toEqual([2, 0]);
    expect(second.inquiries).toEqual({ retrieved: 0, listed: 0 });
  });

  it('captures, even if the creation began with another account', async () => {
    harness().provider.faults.push({ kind: 'not-sent' });
    const creating = harness().create(teaFor('order-1', 100, { needConfirmation: true }));
    const { token, payment } = answered(await harness().passTime(creating));
    second.change(payment.attempt.providerOrderNumber, { status: 'pending', authorizedAmount: 100 });
    await harness().inquire(token);
    expect(await harness().end('capture', token)).toMatchObject({
      aggregate: { payment: { phase: 'approved' } },
    });
    expect(sent()).toEqual([0, 2]);
  });

  it('and if that account is no longer configured, calls are refused and inquiries fail', async () => {
    const token = await harness().approved('order-1', 100);
    const authorized = await harness().authorized('order-2', 100);
    const without = harness().startInstance({ accounts: [accountNamed('second', second.provider)] });
    expect(await without.refund(token, 'a')).toEqual({ kind: 'no-account' });
    expect(await without.end('capture', authorized)).toEqual({ kind: 'no-account' });
    expect(await without.inquire(token)).toBe('failed');
    expect(await harness().history(token)).not.toContain('RefundSubmitted');
  });
});
