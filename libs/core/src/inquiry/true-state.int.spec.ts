/** Any record of the provider is adopted or opens a review, even after an acknowledgement. */
import type { ReviewCode } from '../domain/payment/payment-events.ts';
import { describe, expect, it } from 'vitest';
import { payoutFor, quietMs, teaFor } from '../testing/harness.ts';
import { useHarness } from '../testing/use-harness.ts';

const harness = useHarness();
const day = 24 * 60 * 60_000;

async function created(more: Parameters<typeof teaFor>[2] = {}): Promise<string> {
  const result = await harness().create(teaFor('order-1', 100, more));
  if (result.kind !== 'answered') throw new Error(result.kind);
  return result.aggregate.token;
}
const paymentOf = async (token: string) => (await harness().payments.load(token))!.payment;
const codes = async (token: string) => (await paymentOf(token)).reviews.map(({ code }) => code);
async function shows(token: string, change: Parameters<ReturnType<typeof harness>['provider']['change']>[1]) {
  harness().provider.change(`${token}.1`, change);
  await harness().inquire(token);
}
const acknowledge = (token: string, code: ReviewCode) =>
  harness().resolve({ token, code, resolution: 'acknowledged' });

async function inquireDaily(token: string, days = 35): Promise<void> {
  for (let count = 0; count < days; count += 1) {
    await harness().clock.advance(day);
    await harness().inquire(token);
  }
}

describe('an acknowledged review and a resolved one', () => {
  // An account that had once been silent about the payment was silent about a refund, months later: its amount stayed
  // reserved, and no review was opened.
  it('do not prevent a new one if the account is silent about a later call', async () => {
    const { provider, clock } = harness();
    const token = await created();
    provider.answersInquiries = false;
    await clock.advance(2 * day);
    await harness().inquire(token);
    await acknowledge(token, 'service_not_readable');
    expect(await codes(token)).toEqual([]);
    provider.answersInquiries = true;
    await shows(token, { status: 'approved' });
    provider.answersInquiries = false;
    provider.faultsOf.refund.push({ kind: 'lost-after' });
    await harness().refund(token, 'a', 60);
    await clock.advance(90 * day);
    await harness().inquire(token);
    expect((await paymentOf(token)).refunds[0]?.state).toBe('unresolved');
    expect(await codes(token)).toEqual(['service_not_readable']);
  });
});

describe("the provider's record of a final payment", () => {
  // 100 were refunded at the provider, and that was undone there: the payment stayed `refunded`, without a review.
  it.each([100, 60])('opens a review if a refund of %d made there is undone', async (amount) => {
    const token = await harness().approved('order-1');
    const status = amount === 100 ? 'refunded' : 'approved';
    await shows(token, { status, refundedAmount: amount });
    expect((await paymentOf(token)).phase).toBe(status);
    // At once, the read may be stale.
    await shows(token, { status: 'approved', refundedAmount: 0 });
    expect(await codes(token)).toEqual([]);
    await inquireDaily(token, 1);
    expect((await paymentOf(token)).reviews).toMatchObject([
      { evidence: { kind: 'refund_disagrees', refundedAmount: amount, observedRefundedAmount: 0 } },
    ]);
  });
});

async function pending(by: Pick<ReturnType<typeof harness>, 'payOut'>): Promise<string> {
  harness().provider.payoutStatus = 'pending';
  const result = await by.payOut(payoutFor('order-1'));
  if (result.kind !== 'answered') throw new Error(result.kind);
  return result.aggregate.token;
}
/** The phase after an inquiry with this status. */
async function afterShowing(token: string, status: 'approved' | 'declined' | 'pending') {
  for (const payout of harness().provider.payouts.values()) payout.status = status;
  await harness().inquire(token);
  return (await harness().payouts.load(token))!.payout.phase;
}

describe('a payout that the provider has declined', () => {
  // It stayed declined, nothing was reserved, and its team was asked to pay it again.
  it('is in review once the provider has reopened it, and the read is not stale', async () => {
    const token = await pending(harness());
    expect(await afterShowing(token, 'declined')).toBe('declined');
    expect(await afterShowing(token, 'pending')).toBe('declined');
    await harness().clock.advance(30 * 60_000);
    for (const status of ['pending', 'approved'] as const) {
      expect(await afterShowing(token, status)).toBe('declined');
      expect((await harness().payouts.load(token))!.payout.reviews).toMatchObject([
        { evidence: { kind: 'final_status_revised', observedStatus: status } },
      ]);
    }
    await harness().resolve({ token, code: 'discrepancy', resolution: 'accept_theirs' });
    expect(await afterShowing(token, 'approved')).toBe('approved');
  });
});

// The clock of the process that announced the call was two hours ahead, so the last change seemed long ago (simulation, seed
// 93051).
describe('a stale read after a call announced by a clock that ran ahead', () => {
  const byAClockAhead = () => {
    const { clock } = harness();
    return harness().startInstance({ clock: { ...clock, now: () => clock.now() + 2 * 60 * 60_000 } });
  };

  it('does not make a declined payout pending', async () => {
    const token = await pending(byAClockAhead());
    expect(await afterShowing(token, 'declined')).toBe('declined');
    expect(await afterShowing(token, 'pending')).toBe('declined');
  });

  it('does not revoke an approval', async () => {
    const token = await harness().approved('order-1', 100);
    harness().provider.faultsOf.refund.push({ kind: 'lost-before' });
    await byAClockAhead().refund(token, 'a', 60);
    await harness().inquire(token);
    await harness().clock.advance(quietMs);
    await harness().inquire(token);
    expect(await codes(token)).toEqual(['refund_unresolved']);
    await shows(token, { status: 'pending' });
    expect(await codes(token)).toEqual(['refund_unresolved']);
  });
});

describe('an inquiry without an answer', () => {
  // One time-out about an authorization of two days ago opened a review: patience counted from the call that made it.
  it('opens no review before the account has been silent for a day', async () => {
    const { provider, clock } = harness();
    const token = await harness().authorized('order-1');
    await inquireDaily(token, 2);
    provider.answersInquiries = false;
    await harness().inquire(token);
    expect(await codes(token)).toEqual([]);
    await clock.advance(day - 1);
    await harness().inquire(token);
    expect(await codes(token)).toEqual([]);
    await clock.advance(1);
    await harness().inquire(token);
    expect(await codes(token)).toEqual(['service_not_readable']);
  });

  // Another process has not seen the answers: it counts from the last change, which may open a review too early, never too
  // late.
  it('counts from the last change if no answer is known', async () => {
    const { provider, startInstance } = harness();
    const token = await harness().authorized('order-1');
    await inquireDaily(token, 2);
    provider.answersInquiries = false;
    await startInstance().inquire(token);
    expect(await codes(token)).toEqual(['service_not_readable']);
  });
});

describe('a refund without an outcome', () => {
  it('is one if the provider has the payment', async () => {
    const { provider, clock } = harness();
    const token = await harness().approved('order-1');
    provider.faultsOf.refund.push({ kind: 'lost-before' });
    await harness().refund(token, 'a', 60);
    await clock.advance(quietMs);
    await harness().inquire(token);
    expect(await codes(token)).toEqual(['refund_unresolved']);
  });
});
