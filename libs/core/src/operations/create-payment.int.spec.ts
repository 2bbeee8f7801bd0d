import { eventually } from '@tollgate/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Harness, answered, card, cause, teaFor } from '../testing/harness.ts';
import { useHarness } from '../testing/use-harness.ts';
import type { CreatePaymentResult } from './create-payment.ts';

const started = useHarness();
let harness: Harness;
beforeEach(() => {
  harness = started();
});

const phaseOf = (result: CreatePaymentResult) => answered(result).payment.phase;
const tokenOf = (result: CreatePaymentResult) => answered(result).token;

it("every attempt has its own order number, and the payment keeps the team's", async () => {
  const { provider, create } = harness;
  const result = await create(teaFor('order-1'));
  expect(provider.requests.map(({ orderNumber }) => orderNumber)).toEqual([`${tokenOf(result)}.1`]);
  // The customer knows the order by the team's number.
  expect(provider.requests[0]?.product).toMatch(/ · order-1$/);
  expect(answered(result).payment.terms.orderNumber).toBe('order-1');
});

describe('a stop', () => {
  it.each([
    ['begins no further attempt; the inquiry schedule continues', {}, 'unresolved', ['AttemptUnresolved']],
    ['fails a card payment that was not sent', { card }, 'failed', ['AttemptNotSent', 'PaymentFailed']],
  ])('%s', async (_, more, phase, events) => {
    const { provider, startInstance, passTime, history } = harness;
    const stopping = new AbortController();
    provider.provider.authorize = () => {
      stopping.abort();
      return Promise.resolve({ kind: 'not-sent', reason: 'ECONNREFUSED' });
    };
    const { create } = startInstance({ stopping: stopping.signal });
    const result = await passTime(create(teaFor('order-1', 1250, more)));
    expect(phaseOf(result)).toBe(phase);
    expect(await history(tokenOf(result))).toEqual(['PaymentRequested', ...events]);
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
    provider.beforeAnswerOf = () => new Promise((resolve) => releases.push(resolve));
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
});

describe('an inquiry', () => {
  it('of two processes at once leads to one further attempt', async () => {
    const token = await harness.lostPage('order-1');
    const instances = [1, 2, 3].map(() => harness.startInstance());
    await Promise.all(instances.map(({ inquiries }) => inquiries.request(token, cause)));
    expect(harness.provider.requests).toHaveLength(2);
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
