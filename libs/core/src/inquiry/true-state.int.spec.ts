/** Whatever the service comes to show is taken over or opens a review, also after somebody has acknowledged something. */
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

describe('what a person acknowledged, and what was over', () => {
  // An account that had once been silent about the payment was silent about a refund, months later: its amount was
  // reserved indefinitely, and no review was opened.
  it('is asked about again if the account is silent about a later call', async () => {
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

describe('what the service shows of a final payment', () => {
  // 100 were refunded at the service, and that was taken back there: the payment stayed `refunded`, and no person knew.
  it.each([100, 60])(
    'opens a review where a refund of %d that was made there is taken back',
    async (amount) => {
      const token = await harness().approved('order-1');
      const status = amount === 100 ? 'refunded' : 'approved';
      await shows(token, { status, refundedAmount: amount });
      expect((await paymentOf(token)).phase).toBe(status);
      // At once it may be from before the refund.
      await shows(token, { status: 'approved', refundedAmount: 0 });
      expect(await codes(token)).toEqual([]);
      await inquireDaily(token, 1);
      expect((await paymentOf(token)).reviews).toMatchObject([
        { evidence: { kind: 'refund_disagrees', refundedAmount: amount, observedRefundedAmount: 0 } },
      ]);
    },
  );
});

/** The token of a payout that the provider has. */
async function pending(by: Pick<ReturnType<typeof harness>, 'payOut'>): Promise<string> {
  harness().provider.payoutStatus = 'pending';
  const result = await by.payOut(payoutFor('order-1'));
  if (result.kind !== 'answered') throw new Error(result.kind);
  return result.aggregate.token;
}
/** The phase after an inquiry that shows this status. */
async function afterShowing(token: string, status: 'approved' | 'declined' | 'pending') {
  for (const payout of harness().provider.payouts.values()) payout.status = status;
  await harness().inquire(token);
  return (await harness().payouts.load(token))!.payout.phase;
}

describe('a payout that the provider has declined', () => {
  // It stayed declined, nothing was held, and its team was asked to pay it again.
  it('is in review once the provider has taken it up again, and that is not stale', async () => {
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

// By the clock of the process that had announced its call, two hours ahead, the last change was long ago (simulation, seed 93051).
describe('an older snapshot, where the clock that announced a call ran ahead,', () => {
  const byAClockAhead = () => {
    const { clock } = harness();
    return harness().startInstance({ clock: { ...clock, now: () => clock.now() + 2 * 60 * 60_000 } });
  };

  it('takes no declined payout for pending', async () => {
    const token = await pending(byAClockAhead());
    expect(await afterShowing(token, 'declined')).toBe('declined');
    expect(await afterShowing(token, 'pending')).toBe('declined');
  });

  it('takes no approval for taken back', async () => {
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
  // One time-out about an authorization of two days ago called a person: patience counted from the call that made it.
  it('calls nobody before the account has been silent for a day', async () => {
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

  // Another process has not seen the answers: it counts from the last change, and a person is called rather than nobody.
  it('counts from the last change if no answer is known of', async () => {
    const { provider, startInstance } = harness();
    const token = await harness().authorized('order-1');
    await inquireDaily(token, 2);
    provider.answersInquiries = false;
    await startInstance().inquire(token);
    expect(await codes(token)).toEqual(['service_not_readable']);
  });
});

describe('a refund without an outcome', () => {
  it('is one if the service has the payment', async () => {
    const { provider, clock } = harness();
    const token = await harness().approved('order-1');
    provider.faultsOf.refund.push({ kind: 'lost-before' });
    await harness().refund(token, 'a', 60);
    await clock.advance(quietMs);
    await harness().inquire(token);
    expect(await codes(token)).toEqual(['refund_unresolved']);
  });
});
