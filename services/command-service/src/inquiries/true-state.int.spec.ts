/** Whatever the service comes to show is taken over or opens a review, also after somebody has acknowledged something. */
import type { ReviewCode } from '@tollgate/payment-domain';
import { silentLog } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { card, cause, payoutFor, quietMs, teaFor } from '../testing/harness.ts';
import { useHarness } from '../testing/use-harness.ts';
import { inquireNamed } from './inquire.ts';

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
const sight = (token: string, serviceToken: string) =>
  inquireNamed({ ...harness().inside, log: silentLog }, token, serviceToken, cause);

async function inquireDaily(token: string, days = 35): Promise<void> {
  for (let count = 0; count < days; count += 1) {
    await harness().clock.advance(day);
    await harness().inquire(token);
  }
}

describe('what a person acknowledged while nobody had paid', () => {
  // The service had made it of 90 instead of 100, which a person acknowledged. Then the customer paid: it was the same
  // finding, and the payment stayed `init` without a review.
  it('is asked about again when the customer has paid other terms', async () => {
    const token = await created();
    await shows(token, { amount: 90 });
    await acknowledge(token, 'terms_disagree');
    expect(await codes(token)).toEqual([]);
    await shows(token, { amount: 90 });
    expect(await codes(token)).toEqual([]);
    await shows(token, { status: 'approved' });
    const { reviews } = await paymentOf(token);
    expect(reviews).toMatchObject([{ code: 'terms_disagree', evidence: { observedStatus: 'approved' } }]);
  });

  // A lost first attempt turned up unpaid beside the second one, which a person acknowledged. Then both were paid: two
  // approved payments for one of ours, and no review.
  it('is asked about again when the second payment is taken, too', async () => {
    const { provider } = harness();
    provider.faults.push({ kind: 'lost-after' });
    const token = await created();
    const [first] = [...provider.payments.values()];
    expect((await paymentOf(token)).attempt.number).toBe(2);
    const other = first!.serviceToken;
    await sight(token, other);
    await acknowledge(token, 'second_payment_found');
    provider.change(`${token}.2`, { status: 'approved' });
    await harness().inquire(token);
    provider.change(`${token}.1`, { status: 'approved' });
    await sight(token, other);
    const { reviews, phase } = await paymentOf(token);
    expect(phase).toBe('approved');
    expect(reviews).toMatchObject([
      { code: 'second_payment_found', evidence: { serviceToken: other, observedStatus: 'approved' } },
    ]);
  });

  // A charge that a person had called not made turned up `pending`, was acknowledged, and took the money while its callback
  // was lost: the payment stayed `failed`.
  it('is taken over when a failed payment is approved after all', async () => {
    const { provider, clock } = harness();
    provider.faults.push({ kind: 'lost-after' });
    provider.chargeStatus = 'pending';
    const token = await created({ card });
    const [made] = [...provider.payments.values()];
    provider.payments.clear();
    await clock.advance(quietMs);
    await harness().inquire(token);
    await harness().resolve({ token, code: 'attempt_not_found', resolution: 'payment_not_made' });
    expect((await paymentOf(token)).phase).toBe('failed');
    provider.payments.set(made!.serviceToken, made!);
    await harness().inquire(token);
    await acknowledge(token, 'second_payment_found');
    expect(await codes(token)).toEqual([]);
    await shows(token, { status: 'approved' });
    expect((await paymentOf(token)).phase).toBe('approved');
    expect(await codes(token)).toEqual(['final_status_revised']);
  });
});

describe('what a person acknowledged, and what was over', () => {
  // On hold, acknowledged, approved, and on hold again: the payment was `approved` for ever.
  it('is asked about again where the service shows the unknown status again', async () => {
    const token = await created();
    await shows(token, { status: 'on_hold' });
    await acknowledge(token, 'unknown_status');
    await shows(token, { status: 'on_hold' });
    expect(await codes(token)).toEqual([]);
    await shows(token, { status: 'approved' });
    await shows(token, { status: 'on_hold' });
    expect(await codes(token)).toEqual(['unknown_status']);
  });

  // An account that had once been silent about the payment was silent about a refund, months later: its amount was
  // reserved for ever, and no review was opened.
  it('is asked about again where the account is silent about a later call', async () => {
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
        { code: 'refund_disagrees', evidence: { refundedAmount: amount, observedRefundedAmount: 0 } },
      ]);
    },
  );

  // The customer authorized 100 of a payment that had expired: the money was held until it lapsed, the team could not void
  // it, and no person knew.
  it('opens a review where money of an expired payment is held', async () => {
    const token = await created({ needConfirmation: true });
    await shows(token, { status: 'expired' });
    await shows(token, { status: 'pending', authorizedAmount: 100 });
    expect(await codes(token)).toEqual([]);
    await inquireDaily(token);
    const { phase, reviews } = await paymentOf(token);
    expect(phase).toBe('expired');
    expect(reviews).toMatchObject([
      { code: 'final_status_revised', evidence: { to: 'pending', observedAuthorizedAmount: 100 } },
    ]);
    await acknowledge(token, 'final_status_revised');
    await inquireDaily(token);
    expect(await codes(token)).toEqual([]);
  });
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
  // It stayed declined, nothing was held, and its team was told to pay it again.
  it('is pending once the provider has taken it up again, and that is no older picture', async () => {
    const token = await pending(harness());
    expect(await afterShowing(token, 'declined')).toBe('declined');
    expect(await afterShowing(token, 'pending')).toBe('declined');
    await harness().clock.advance(30 * 60_000);
    expect(await afterShowing(token, 'pending')).toBe('pending');
    expect(await afterShowing(token, 'approved')).toBe('approved');
  });
});

// By the clock of the process that had announced its call, two hours ahead, the last change was long ago (simulation, seed 93051).
describe('an older picture, where the clock that announced a call ran ahead,', () => {
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
  it('counts from the last change where no answer is known of', async () => {
    const { provider, startInstance } = harness();
    const token = await harness().authorized('order-1');
    await inquireDaily(token, 2);
    provider.answersInquiries = false;
    await startInstance().inquire(token);
    expect(await codes(token)).toEqual(['service_not_readable']);
  });
});

describe('a refund without an outcome', () => {
  // Its answer was lost, and the service did not have the payment any more. A person acknowledged that, and the refund
  // stayed unresolved without a review, 60 reserved for ever.
  it('is a question of its own where the service does not have the payment any more', async () => {
    const { provider, clock } = harness();
    const token = await harness().approved('order-1');
    provider.faultsOf.refund.push({ kind: 'lost-after' });
    provider.answersInquiries = false;
    await harness().refund(token, 'a', 60);
    provider.answersInquiries = true;
    provider.payments.clear();
    await clock.advance(quietMs);
    await harness().inquire(token);
    expect(await codes(token)).toEqual(['only_here', 'refund_unresolved']);
    await acknowledge(token, 'only_here');
    await inquireDaily(token);
    expect(await codes(token)).toEqual(['refund_unresolved']);
    await harness().resolve({ token, code: 'refund_unresolved', resolution: 'refund_not_made' });
    await inquireDaily(token);
    const { refunds, reviews } = await paymentOf(token);
    expect({ refund: refunds[0]?.state, reviews }).toEqual({ refund: 'declined', reviews: [] });
  });

  it('is one where the service has the payment', async () => {
    const { provider, clock } = harness();
    const token = await harness().approved('order-1');
    provider.faultsOf.refund.push({ kind: 'lost-before' });
    await harness().refund(token, 'a', 60);
    await clock.advance(quietMs);
    await harness().inquire(token);
    expect(await codes(token)).toEqual(['refund_unresolved']);
  });
});
