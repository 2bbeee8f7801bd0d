import { systemClock } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { answerMs, caller, cause, keyOf, quietMs } from '../testing/harness.ts';
import { diesAnnounced } from '../testing/failing-stores.ts';
import { useHarness } from '../testing/use-harness.ts';
import { type RefundPaymentResult, refundPayment } from './refund-payment.ts';

const harness = useHarness();

const refundedAmounts = () =>
  harness()
    .provider.received.filter(({ operation }) => operation === 'refund')
    .map(({ amount }) => amount);

const codeOf = (result: RefundPaymentResult): string =>
  result.kind === 'refused' ? result.refusal.code : result.kind;

const stateOf = (result: RefundPaymentResult) =>
  result.kind === 'answered' ? result.aggregate.refund.state : codeOf(result);

const refused = (code: string) => ({ kind: 'refused', refusal: { code } });

describe('concurrent refunds of one payment', () => {
  it('never refund more than was paid, over several processes', async () => {
    const token = await harness().approved('order-1', 100);
    const instances = [1, 2, 3].map(() => harness().startInstance({ clock: systemClock }));
    const asking = Array.from({ length: 17 }, (_, turn) =>
      instances.map(({ refund }, index) => refund(token, `refund-${turn}-${index}`, 60)),
    );
    const results = await Promise.all(asking.flat());
    expect(refundedAmounts()).toEqual([60]);
    expect(results.filter(({ kind }) => kind === 'answered')).toHaveLength(1);
    const others = new Set(results.map(codeOf).filter((code) => code !== 'answered'));
    expect([...others].filter((code) => code !== 'operation_in_progress')).toEqual(['refund_exceeds_amount']);
    expect((await harness().payments.load(token))?.payment.refundedAmount).toBe(60);
  });

  it('that fit both succeed, one after the other', async () => {
    const token = await harness().approved('order-1', 100);
    const first = harness().startInstance({ clock: systemClock });
    const second = harness().startInstance({ clock: systemClock });
    let underWay = 0;
    let underWayMax = 0;
    harness().provider.beforeAnswerOf = async () => {
      underWayMax = Math.max(underWayMax, (underWay += 1));
      await new Promise((resolve) => setImmediate(resolve));
      underWay -= 1;
    };
    const results = await Promise.all([first.refund(token, 'a', 30), second.refund(token, 'b', 30)]);
    expect(results.map(stateOf)).toEqual(['approved', 'approved']);
    expect(refundedAmounts()).toEqual([30, 30]);
    expect(underWayMax).toBe(1);
  });

  it('wait at most as long as a caller may, without a permit of the account', async () => {
    const token = await harness().approved('order-1', 100);
    let answer = (): void => undefined;
    harness().provider.beforeAnswerOf = () => new Promise((resolve) => (answer = resolve));
    const other = harness().startInstance();
    const first = other.refund(token, 'a', 30);
    await eventually(() => expect(refundedAmounts()).toHaveLength(1));
    const second = harness().refund(token, 'b', 30);
    await eventually(() => expect(harness().clock.sleeperCount()).toBe(1));
    expect(harness().accounts.health()).toMatchObject([{ callsUnderWay: 0 }]);
    expect(codeOf(await harness().passTime(second))).toBe('operation_in_progress');
    answer();
    expect(stateOf(await first)).toBe('approved');
    expect(refundedAmounts()).toEqual([30]);
  });
});

// The customer had just paid: the refund was refused permanently, as not refundable.
it.each(['not-asked', 'awaiting-answer', 'failed'] as const)(
  'a refund of a payment that is not final here can be retried if the inquiry failed: %s',
  async (result) => {
    const token = await harness().authorized('order-1');
    const deps = { ...harness().inside, inquire: async () => result };
    const input = { caller, key: keyOf('a'), request: { token }, cause };
    expect(await refundPayment(deps, input)).toMatchObject({ kind: 'unavailable' });
  },
);

// It ended with 500: a leader without a quorum accepts what cannot be read, and may still lose it.
it('a replay of a refund whose key is accepted and not readable yet must be retried, and nothing is sent', async () => {
  const token = await harness().approved('order-1', 100);
  const hiding = harness().startInstance({
    wrapStore: (store) => ({
      ...store,
      append: async (stream, ...rest) =>
        stream.startsWith('refund-') ? { kind: 'conflict', actual: 0 } : store.append(stream, ...rest),
    }),
  });
  await expect(hiding.refund(token, 'a', 60)).rejects.toMatchObject({
    code: 'store_unconfirmed',
    retryable: true,
  });
  expect(refundedAmounts()).toEqual([]);
  expect(stateOf(await harness().refund(token, 'a', 60))).toBe('approved');
});

describe('a key', () => {
  it('with another amount or another payment is refused without a call', async () => {
    const token = await harness().approved('order-1', 100);
    const another = await harness().approved('order-2', 100);
    await harness().refund(token, 'a', 30);
    const reused = refused('idempotency_key_reused');
    expect(await harness().refund(token, 'a', 31)).toMatchObject(reused);
    expect(await harness().refund(token, 'a')).toMatchObject(reused);
    expect(await harness().refund(another, 'a', 30)).toMatchObject(reused);
    expect(refundedAmounts()).toEqual([30]);
  });

  it('of two concurrent payments, over two processes, is one refund', async () => {
    const tokens = [await harness().approved('order-1'), await harness().approved('order-2')];
    const results = await Promise.all(
      tokens.map((token) => harness().startInstance({ clock: systemClock }).refund(token, 'a', 30)),
    );
    expect(results.map(codeOf).sort()).toEqual(['answered', 'idempotency_key_reused']);
    expect(refundedAmounts()).toEqual([30]);
  });
});

describe("another team's payment", () => {
  it.each([
    ['another team', { team: 'others' }],
    ['another environment', { environment: 'production' as const }],
  ])('is not found by %s, and the key stays unused', async (_name, change) => {
    const token = await harness().approved('order-1', 100);
    const result = await harness().refund(token, 'a', 30, { ...caller, ...change });
    expect(result).toMatchObject(refused('payment_not_found'));
    expect(refundedAmounts()).toEqual([]);
  });

  it.each(['pay_unknown', '', '../payment', 'x'.repeat(129)])('%j is not found either', async (token) => {
    expect(await harness().refund(token, 'a')).toMatchObject(refused('payment_not_found'));
  });
});

describe('a refund', () => {
  it('that waits for one whose process died is refused as in progress, and begins once that one is decided', async () => {
    const token = await harness().approved('order-1', 100);
    const dying = harness().startInstance({ wrapStore: diesAnnounced(), dies: true });
    void dying.refund(token, 'a', 30);
    await eventually(async () =>
      expect((await harness().payments.load(token))?.payment.refunds).toHaveLength(1),
    );
    expect(codeOf(await harness().passTime(harness().refund(token, 'b', 30)))).toBe('operation_in_progress');
    await harness().clock.advance(answerMs + quietMs);
    await harness().inquire(token);
    await harness().resolve({ token, code: 'refund_unresolved', resolution: 'refund_not_made' });
    expect(stateOf(await harness().refund(token, 'b', 30))).toBe('approved');
    expect(refundedAmounts()).toEqual([30]);
  });
});

describe('before a refund', () => {
  // A refund made in the provider's console was found only by the inquiry after ours, and its sum mistaken for ours.
  it('an inquiry finds those made elsewhere', async () => {
    const token = await harness().approved('order-1', 100);
    harness().provider.change(`${token}.1`, { refundedAmount: 30 });
    expect(await harness().refund(token, 'a', 80)).toMatchObject({
      refusal: { code: 'refund_exceeds_amount', refundableAmount: 70, currency: 'EUR' },
    });
    expect(await harness().refund(token, 'b')).toMatchObject({ aggregate: { refund: { amount: 70 } } });
    expect(refundedAmounts()).toEqual([70]);
    expect(await harness().history(token)).toContain('ExternalRefundObserved');
  });

  // 300 were refunded in the provider's console, the callback was lost, and then inquiries failed. A refund of 300 was lost in
  // transit and counted as approved by those of the console: the customer had 300 of 600.
  it('if the inquiry fails, one made elsewhere does not approve it: a person decides', async () => {
    const token = await harness().approved('order-1', 1_000);
    const { provider, clock } = harness();
    provider.change(`${token}.1`, { refundedAmount: 300 });
    provider.answersInquiries = false;
    provider.faultsOf.refund.push({ kind: 'lost-before' });
    expect(stateOf(await harness().passTime(harness().refund(token, 'a', 300)))).toBe('unresolved');
    provider.answersInquiries = true;
    await clock.advance(quietMs + 60_000);
    await harness().inquire(token);
    const sums = { amount: 300, refundedAmount: 0, observedRefundedAmount: 300 };
    expect((await harness().payments.load(token))?.payment).toMatchObject({
      refunds: [{ state: 'unresolved' }],
      reviews: [
        { code: 'refund_unresolved', evidence: { ...sums, sumUnknown: true } },
        { evidence: { kind: 'refund_disagrees', refundedAmount: 0, observedRefundedAmount: 300 } },
      ],
    });
    await harness().resolve({ token, code: 'refund_unresolved', resolution: 'refund_not_made' });
    await harness().inquire(token);
    expect(stateOf(await harness().refund(token, 'b', 300))).toBe('approved');
    expect((await harness().payments.load(token))?.payment.refundedAmount).toBe(600);
  });

  it('no inquiry is made for a replay', async () => {
    const token = await harness().approved('order-1', 100);
    await harness().refund(token, 'a', 30);
    const { retrieved } = harness().provider.inquiries;
    expect(await harness().refund(token, 'a', 30)).toMatchObject({ replayed: true });
    expect(harness().provider.inquiries.retrieved).toBe(retrieved);
  });

  it.each([
    ['fails', () => Promise.reject(new Error('the store is gone'))],
    ['hangs', () => new Promise<never>(() => undefined)],
  ])('an inquiry that %s does not block a refund of what is approved here', async (_name, inquire) => {
    const token = await harness().approved('order-1', 100);
    const input = { caller, key: keyOf('a'), request: { token, amount: 60 }, cause };
    const refunding = refundPayment({ ...harness().inside, inquire }, input);
    expect(stateOf(await harness().passTime(refunding))).toBe('approved');
    expect(harness().clock.monotonic()).toBeLessThan(6_000);
  });
});
