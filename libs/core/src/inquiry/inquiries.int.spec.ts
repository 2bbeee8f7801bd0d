/** Inquiries concurrent with other work: their reads may be stale when recorded. */
import { eventually } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { failingStore } from '../testing/failing-stores.ts';
import { type Harness, cause, payoutFor, quietMs, teaFor, answered } from '../testing/harness.ts';
import { useHarness } from '../testing/use-harness.ts';

const harness = useHarness();
const dayMs = 24 * 3_600_000;

/** Delays the next retrieval after the provider was read, so that its result is stale. */
function holdNextInquiry({ provider }: Harness, method: 'inquirePayment' | 'listPayments' | 'inquirePayout') {
  const read = provider.provider[method] as (argument: never) => Promise<unknown>;
  let release = (): void => undefined;
  let count = 0;
  Object.assign(provider.provider, {
    async [method](argument: never) {
      count += 1;
      const outcome = await read(argument);
      if (count === 1) await new Promise<void>((resolve) => (release = resolve));
      return outcome;
    },
  });
  return {
    release: () => release(),
    isHeld: () => eventually(() => expect(count).toBe(1)),
    count: () => count,
  };
}

const paymentOf = async ({ payments }: Harness, token: string) => (await payments.load(token))?.payment;

describe('an inquiry that began before', () => {
  it('a refund was submitted does not decide it, and is repeated', async () => {
    const token = await harness().approved('order-1', 100);
    await harness().refund(token, 'a', 60);
    // The provider shows a refund that it has made, and the next one, of the same amount, is submitted meanwhile.
    harness().provider.change(`${token}.1`, { refundedAmount: 80 });
    const held = holdNextInquiry(harness(), 'inquirePayment');
    const inquiring = harness().startInstance().inquire(token);
    await held.isHeld();
    harness().provider.faultsOf.refund.push({ kind: 'lost-before' });
    harness().provider.answersInquiries = false;
    await harness().passTime(harness().refund(token, 'b', 20));
    harness().provider.answersInquiries = true;
    harness().provider.change(`${token}.1`, { refundedAmount: 60 });
    held.release();
    expect(await inquiring).toBe('inquired');
    // The delayed one, before the refund, after it, and again because of it.
    expect(held.count()).toBe(4);
    const payment = await paymentOf(harness(), token);
    expect(payment?.refunds.map(({ state }) => state)).toEqual(['approved', 'unresolved']);
    expect(payment?.refundedAmount).toBe(60);
  });

  it('a refund was approved does not take it for one made elsewhere', async () => {
    const token = await harness().approved('order-1', 100);
    harness().provider.change(`${token}.1`, { refundedAmount: 30 });
    const held = holdNextInquiry(harness(), 'inquirePayment');
    const inquiring = harness().startInstance().inquire(token);
    await held.isHeld();
    harness().provider.change(`${token}.1`, { refundedAmount: 0 });
    await harness().refund(token, 'a', 30);
    held.release();
    await inquiring;
    expect(await harness().history(token)).not.toContain('ExternalRefundObserved');
    expect((await paymentOf(harness(), token))?.refundedAmount).toBe(30);
  });

  it('a confirmation was submitted does not lead to a second submission', async () => {
    const token = await harness().authorized('order-1', 100);
    const held = holdNextInquiry(harness(), 'inquirePayment');
    const inquiring = harness().startInstance().inquire(token);
    await held.isHeld();
    await harness().end('capture', token);
    await harness().clock.advance(quietMs);
    held.release();
    await inquiring;
    const confirmed = harness().provider.received.filter(({ operation }) => operation === 'capture');
    expect(confirmed).toHaveLength(1);
    expect((await paymentOf(harness(), token))?.phase).toBe('approved');
  });

  it('a payout was found pending does not hide its later status', async () => {
    harness().provider.payoutStatus = 'pending';
    const { token } = answered(await harness().payOut(payoutFor('order-1')));
    for (const payout of harness().provider.payouts.values()) payout.status = 'declined';
    const held = holdNextInquiry(harness(), 'inquirePayout');
    const inquiring = harness().startInstance().inquire(token);
    await held.isHeld();
    for (const payout of harness().provider.payouts.values()) payout.status = 'approved';
    await harness().inquire(token);
    held.release();
    await inquiring;
    expect(await harness().history(token)).toEqual(['PayoutRequested', 'PayoutAccepted', 'PayoutApproved']);
  });

  it('an attempt was abandoned changes nothing about the next one', async () => {
    const token = await harness().lostPage('order-1');
    const held = holdNextInquiry(harness(), 'listPayments');
    const inquiring = harness().startInstance().inquire(token);
    await held.isHeld();
    await harness().inquire(token);
    held.release();
    await inquiring;
    expect(harness().provider.requests).toHaveLength(2);
    expect((await paymentOf(harness(), token))?.attempt.number).toBe(2);
  });
});

it('a payment that changes during every inquiry is left to the schedule', async () => {
  const token = await harness().approved('order-1', 100);
  const { inquirePayment } = harness().provider.provider;
  let inquiries = 0;
  harness().provider.provider.inquirePayment = async (serviceToken) => {
    const outcome = await inquirePayment(serviceToken);
    if (serviceToken !== 'service-1') return outcome;
    inquiries += 1;
    const deferred = { type: 'DeferCallback', serviceToken: `another-${inquiries}`, deferredAt: 0 } as const;
    await harness().payments.execute(token, deferred, cause);
    return outcome;
  };
  expect(await harness().inquire(token)).toBe('failed');
  expect(inquiries).toBe(4);
});

it('a failed payment is inquired without a permit, since no call can follow', async () => {
  harness().provider.faults.push({ kind: 'refused', code: 'a_code', errorKind: 'processing_error' });
  const { token } = answered(await harness().create(teaFor('order-1')));
  await harness().clock.advance(quietMs);
  await harness().openCircuit();
  expect(await harness().inquire(token)).toBe('inquired');
});

it('an attempt is abandoned only if the next one can be made now', async () => {
  const token = await harness().lostPage('order-1');
  await harness().openCircuit();
  expect(await harness().inquire(token)).toBe('failed');
  expect((await paymentOf(harness(), token))?.phase).toBe('unresolved');
  await harness().clock.advance(60_000);
  expect(await harness().inquire(token)).toBe('inquired');
  expect((await paymentOf(harness(), token))?.phase).toBe('init');
});

describe('an inquiry that could lead to a call releases its permit', () => {
  it('if the announcement cannot be stored', async () => {
    const token = await harness().lostPage('order-1');
    const failing = harness().startInstance({ wrapStore: failingStore(() => 'refused') });
    await expect(failing.inquire(token)).rejects.toMatchObject({ retryable: true });
    expect(failing.accounts.health()).toMatchObject([{ callsUnderWay: 0 }]);
    expect(harness().provider.requests).toHaveLength(1);
  });

  it('if another event was recorded meanwhile', async () => {
    const token = await harness().authorized('order-1', 100);
    harness().provider.faultsOf.capture.push({ kind: 'lost-before' });
    await harness().end('capture', token);
    await harness().clock.advance(quietMs);
    const held = holdNextInquiry(harness(), 'inquirePayment');
    const late = harness().startInstance();
    const inquiring = late.inquire(token);
    await held.isHeld();
    await harness().inquire(token);
    held.release();
    await inquiring;
    expect(late.accounts.health()).toMatchObject([{ callsUnderWay: 0 }]);
    const confirmed = harness().provider.received.filter(({ operation }) => operation === 'capture');
    expect(confirmed).toHaveLength(2);
  });
});

describe('an inquiry without a result', () => {
  async function open() {
    const created = answered(await harness().create(teaFor('order-1')));
    harness().provider.payoutStatus = 'pending';
    return [created.token, answered(await harness().payOut(payoutFor('order-2'))).token];
  }
  async function reviewsOf(token: string) {
    const { payouts } = harness();
    const known = token.startsWith('po_') ? (await payouts.load(token))?.payout : undefined;
    return (known ?? (await paymentOf(harness(), token)))?.reviews;
  }
  const notReadable = (reason: string) => [
    { code: 'service_not_readable', evidence: { reason, account: 'main' } },
  ];

  it('opens a review at once if the account is no longer configured', async () => {
    const without = harness().startInstance({ accounts: [] });
    for (const token of await open()) {
      expect(await without.inquire(token)).toBe('failed');
      expect(await reviewsOf(token)).toMatchObject(notReadable('account_missing'));
      await harness().inquire(token);
      expect(await reviewsOf(token)).toEqual([]);
    }
  });

  it('opens a review at once if the account is refused', async () => {
    const tokens = await open();
    const errors = [{ code: 'a_code', kind: 'settings_error' }];
    const refuse = () => Promise.resolve({ kind: 'refused', errors, isAccountRefused: true });
    Object.assign(harness().provider.provider, { inquirePayment: refuse, inquirePayout: refuse });
    for (const token of tokens) {
      expect(await harness().inquire(token)).toBe('failed');
      expect(await reviewsOf(token)).toMatchObject(notReadable('refused'));
    }
  });

  it.each([
    ['no answer', () => Promise.resolve({ kind: 'unknown', reason: 'timeout' })],
    ['no connection', () => Promise.resolve({ kind: 'not-sent', reason: 'ECONNREFUSED' })],
    ['a fault of the connector', () => Promise.reject(new Error('broken'))],
  ])('because of %s opens a review only after a while', async (_name, answer) => {
    const tokens = await open();
    Object.assign(harness().provider.provider, { inquirePayment: answer, inquirePayout: answer });
    for (const token of tokens) {
      expect(await harness().inquire(token)).toBe('failed');
      expect(await reviewsOf(token)).toEqual([]);
    }
    await harness().clock.advance(25 * 3_600_000);
    for (const token of tokens) {
      await harness().inquire(token);
      expect(await reviewsOf(token)).toMatchObject(notReadable('no_answer'));
    }
  });

  // One time-out about an authorization of two days ago opened a review: patience counted from the call that made it. Another
  // process has not seen the answers: it counts from the last change, which may open a review too early, never too late.
  it('opens a review a day after the last answer, or, if no answer is known, after the last change', async () => {
    const { provider, clock, startInstance } = harness();
    const [token, another] = [await harness().authorized('order-1'), await harness().authorized('order-2')];
    await clock.advance(2 * dayMs);
    await harness().inquire(token);
    provider.answersInquiries = false;
    await startInstance().inquire(another);
    expect(await reviewsOf(another)).toMatchObject(notReadable('no_answer'));
    for (const [passedMs, reviews] of [
      [dayMs - 1, []],
      [1, notReadable('no_answer')],
    ] as const) {
      await clock.advance(passedMs);
      await harness().inquire(token);
      expect(await reviewsOf(token)).toMatchObject(reviews);
    }
  });
});

// The clock of the process that announced the call was two hours ahead, so the last change seemed long ago (simulation, seed
// 93051).
it('a stale read after a call announced by a clock that ran ahead does not make a declined payout pending', async () => {
  const { clock, provider, payouts, startInstance, inquire } = harness();
  provider.payoutStatus = 'pending';
  const ahead = startInstance({ clock: { ...clock, now: () => clock.now() + 2 * 3_600_000 } });
  const { token } = answered(await ahead.payOut(payoutFor('order-1')));
  for (const status of ['declined', 'pending']) {
    for (const payout of provider.payouts.values()) payout.status = status;
    await inquire(token);
    expect((await payouts.load(token))?.payout.phase).toBe('declined');
  }
});
