import { type PayoutReviewCode, payoutReviewCodes } from '../domain/payout/payout-events.ts';
import { type Resolution, type Review } from '../domain/review.ts';
import { type ReviewCode, reviewCodes } from '../domain/payment/payment-events.ts';
import { describe, expect, it } from 'vitest';
import {
  type Harness,
  caller,
  card,
  cause,
  payoutFor,
  quietMs,
  teaFor,
  answered,
} from '../testing/harness.ts';
import { useHarness } from '../testing/use-harness.ts';
import type { Requester } from '../domain/requester.ts';
import { type ResolveReviewInput, resolveReview } from './resolve-review.ts';

const harness = useHarness();

const reason = 'seen at the service';
const forOperators = { kind: 'refused', refusal: { code: 'operator_required' } };

async function created(more: Parameters<typeof teaFor>[2] = {}): Promise<string> {
  return answered(await harness().create(teaFor('order-1', 100, more))).token;
}
async function paidOut(): Promise<string> {
  return answered(await harness().payOut(payoutFor('order-1'))).token;
}
const paymentOf = async ({ payments }: Harness, token: string) => (await payments.load(token))?.payment;

/** Changes the provider's record, and inquires. */
async function shown(token: string, change: Parameters<Harness['provider']['change']>[1]): Promise<string> {
  harness().provider.change(`${token}.1`, change);
  await harness().inquire(token);
  return token;
}

/** A review in these tests, by its code; a discrepancy by its kind. */
const ofCalls: readonly string[] = [...reviewCodes, ...payoutReviewCodes];
const codeOf = (what: string) =>
  (ofCalls.includes(what) ? what : 'discrepancy') as ReviewCode & PayoutReviewCode;
const namesOf = (reviews: readonly Pick<Review, 'code' | 'evidence'>[] = []) =>
  reviews.map(({ code, evidence }) => evidence['kind'] ?? code);

/** Leads to each review; returns the payment's token. */
const openReview = {
  async attempt_not_found() {
    harness().provider.faults.push({ kind: 'lost-before' });
    const token = await created({ card });
    await harness().clock.advance(quietMs);
    await harness().inquire(token);
    return token;
  },
  final_status_revised: async () => shown(await harness().approved('order-1'), { status: 'declined' }),
  async refund_unresolved() {
    const token = await harness().approved('order-1');
    harness().provider.faultsOf.refund.push({ kind: 'lost-before' });
    await harness().refund(token, 'a', 60);
    await harness().clock.advance(quietMs);
    await harness().inquire(token);
    return token;
  },
  async service_not_readable() {
    const token = await created();
    await harness().startInstance({ accounts: [] }).inquire(token);
    return token;
  },
  terms_disagree: async () => shown(await created(), { amount: 1 }),
  unknown_status: async () => shown(await created(), { status: 'on_the_moon' }),
} satisfies Record<string, () => Promise<string>>;

/** The result of each resolution: the codes open afterwards, and the payment's phase. */
const cases: [keyof typeof openReview, Resolution, string[], string][] = [
  ['attempt_not_found', 'check_again', ['attempt_not_found'], 'unresolved'],
  ['attempt_not_found', 'payment_not_made', [], 'failed'],
  ['final_status_revised', 'accept_theirs', [], 'declined'],
  ['final_status_revised', 'check_again', ['final_status_revised'], 'approved'],
  // The provider does not show the refund that the person confirmed: a discrepancy.
  ['refund_unresolved', 'refund_made', ['refund_disagrees'], 'approved'],
  ['service_not_readable', 'check_again', [], 'init'],
  ['unknown_status', 'keep_ours', [], 'init'],
];

describe('a review of a payment', () => {
  it.each(cases)('%s resolved by %s leaves %j and is %s', async (what, resolution, open, phase) => {
    const token = await openReview[what]();
    expect(namesOf((await paymentOf(harness(), token))?.reviews)).toEqual([what]);
    const result = await harness().resolve({ token, code: codeOf(what), resolution });
    expect(result).toMatchObject({ kind: 'resolved', aggregate: { token, payment: { phase } } });
    const payment = await paymentOf(harness(), token);
    expect(namesOf(payment?.reviews)).toEqual(open);
    expect(payment?.phase).toBe(phase);
    expect(await harness().history(token)).toContain('ReviewResolved');
  });

  // A team's own key freed reserved money by an answer that changes nothing, and the team paid it out.
  it('stays reserved if a key of the team keeps its record, and is released by an operator', async () => {
    const stateOf = async (token: string) => (await paymentOf(harness(), token))?.discrepancies[0]?.state;
    const byKey = await openReview.final_status_revised();
    await harness().resolve({ token: byKey, code: 'discrepancy', resolution: 'keep_ours' });
    expect(await stateOf(byKey)).toBe('kept');
    const operator = { person: 'ada' };
    const { inside } = harness();
    const answer = { token: byKey, code: 'discrepancy', number: 2, resolution: 'keep_ours' } as const;
    await shown(byKey, { status: 'expired' });
    await resolveReview(inside, { ...answer, caller: { ...caller, operator }, reason, cause });
    expect(await stateOf(byKey)).toBe('released');
  });

  // M4: the team that gained by an answer gave it itself.
  it.each([
    ['final_status_revised', 'accept_theirs'],
    ['refund_unresolved', 'refund_not_made'],
  ] as const)('about %s is not resolved by %s of a key, which can free money', async (what, resolution) => {
    const token = await openReview[what]();
    const before = await paymentOf(harness(), token);
    const answer = { token, code: codeOf(what), number: before?.reviews[0]?.number ?? 0, resolution };
    expect(await resolveReview(harness().inside, { ...answer, caller, reason, cause })).toEqual(forOperators);
    expect(await paymentOf(harness(), token)).toEqual(before);
  });
});

const openPayoutReview = {
  async final_status_revised() {
    const token = await paidOut();
    for (const payout of harness().provider.payouts.values()) payout.status = 'declined';
    await harness().inquire(token);
    return token;
  },
  async payout_not_found() {
    harness().provider.faultsOf.payout.push({ kind: 'lost-before' });
    const token = await paidOut();
    await harness().clock.advance(quietMs);
    await harness().inquire(token);
    return token;
  },
  async unknown_status() {
    harness().provider.payoutStatus = 'on_the_moon';
    return paidOut();
  },
} satisfies Record<string, () => Promise<string>>;

const payoutCases: [keyof typeof openPayoutReview, Resolution, string[], string][] = [
  ['final_status_revised', 'accept_theirs', [], 'declined'],
  ['payout_not_found', 'check_again', ['payout_not_found'], 'unresolved'],
  ['payout_not_found', 'payout_not_made', [], 'failed'],
  ['unknown_status', 'keep_ours', [], 'pending'],
];

describe('a review of a payout', () => {
  it('is not resolved as not made by a key, which would free the amount', async () => {
    const token = await openPayoutReview.payout_not_found();
    const answer = { token, code: 'payout_not_found', number: 1, resolution: 'payout_not_made' } as const;
    expect(await resolveReview(harness().inside, { ...answer, caller, reason, cause })).toEqual(forOperators);
    expect((await harness().payouts.load(token))?.payout.phase).toBe('unresolved');
  });

  it.each(payoutCases)('%s resolved by %s leaves %j and is %s', async (what, resolution, open, phase) => {
    const token = await openPayoutReview[what]();
    expect(namesOf((await harness().payouts.load(token))?.payout.reviews)).toEqual([what]);
    const result = await harness().resolve({ token, code: codeOf(what), resolution });
    expect(result).toMatchObject({ kind: 'resolved', aggregate: { token, payout: { phase } } });
    const payout = (await harness().payouts.load(token))?.payout;
    expect(namesOf(payout?.reviews)).toEqual(open);
    expect(payout?.phase).toBe(phase);
    // No resolution pays anything out.
    expect(harness().provider.received).toHaveLength(1);
  });
});

describe('a resolution', () => {
  it('of a review that is not open is refused', async () => {
    const token = await created();
    const payout = await paidOut();
    const refused = { kind: 'refused', refusal: { code: 'review_not_found' } };
    for (const code of ['discrepancy', 'payout_not_found', 'refund_unresolved'] as const) {
      expect(await harness().resolve({ token, code, resolution: 'acknowledged' })).toEqual(refused);
      const ofPayout = { token: payout, code, resolution: 'acknowledged' } as const;
      expect(await harness().resolve(ofPayout)).toEqual(refused);
    }
  });

  it("of another team's payment or payout is not found", async () => {
    const token = await openReview.terms_disagree();
    const payout = await openPayoutReview.unknown_status();
    const others = { ...caller, team: 'others' };
    const input = { caller: others, number: 1, reason, cause, resolution: 'acknowledged' } as const;
    const { inside } = harness();
    expect(await resolveReview(inside, { ...input, token, code: 'discrepancy' })).toEqual({
      kind: 'refused',
      refusal: { code: 'payment_not_found' },
    });
    expect(await resolveReview(inside, { ...input, token: payout, code: 'discrepancy' })).toEqual({
      kind: 'refused',
      refusal: { code: 'payout_not_found' },
    });
    expect(await harness().history(token)).not.toContain('ReviewResolved');
    expect(await harness().history(payout)).not.toContain('ReviewResolved');
  });

  // An inquiry that rejected once turned the recorded resolution into a 500; one that hung kept the caller waiting.
  it.each([
    ['fails', () => Promise.reject(new Error('the store is gone'))],
    ['hangs', () => new Promise<never>(() => undefined)],
  ])('whose inquiry %s is still recorded and answered', async (_name, inquire) => {
    const token = await openReview.unknown_status();
    const payout = await openPayoutReview.unknown_status();
    const deps = { ...harness().inside, inquire };
    const input = {
      caller,
      code: 'discrepancy',
      resolution: 'check_again',
      number: 1,
      reason,
      cause,
    } as const;
    for (const each of [token, payout])
      expect(await harness().passTime(resolveReview(deps, { ...input, token: each }))).toMatchObject({
        kind: 'resolved',
      });
    expect(harness().clock.monotonic()).toBeLessThan(11_000);
  });
});

describe('if two people must resolve a review', () => {
  const by = (person: string): Requester => ({
    ...caller,
    operator: { person },
  });
  const answerOf = (person: string, token: string, more: Partial<ResolveReviewInput> = {}) =>
    resolveReview(
      { ...harness().inside, reviewsByTwo: ['sandbox'] },
      {
        caller: by(person),
        token,
        code: 'attempt_not_found',
        number: 1,
        resolution: 'payment_not_made',
        reason,
        cause,
        ...more,
      },
    );

  it.each([
    ['payment', 'attempt_not_found', 'payment_not_made', () => openReview.attempt_not_found()],
    ['payout', 'payout_not_found', 'payout_not_made', () => openPayoutReview.payout_not_found()],
  ] as const)(
    'a resolution of a %s takes effect when the second gives the same answer, and never by the first alone',
    async (subject, code, resolution, open) => {
      const token = await open();
      const answer = { code, resolution };
      for (let time = 0; time < 3; time += 1)
        expect(await answerOf('ada', token, answer)).toMatchObject({
          kind: 'proposed',
          aggregate: { [subject]: { phase: 'unresolved', reviews: [{ proposal: { proposedBy: 'ada' } }] } },
        });
      const proposals = (await harness().history(token)).filter(
        (each) => each === 'ReviewResolutionProposed',
      );
      expect(proposals).toHaveLength(1);
      expect(await answerOf('bob', token, answer)).toMatchObject({
        kind: 'resolved',
        aggregate: { [subject]: { phase: 'failed', reviews: [] } },
      });
      expect(await answerOf('ada', token, answer)).toMatchObject({ refusal: { code: 'review_not_found' } });
    },
  );

  it('takes effect once if both answer concurrently', async () => {
    const agreed = await openReview.refund_unresolved();
    const refunds = { code: 'refund_unresolved', resolution: 'refund_not_made' } as const;
    const both = await Promise.all(['ada', 'bob'].map((id) => answerOf(id, agreed, refunds)));
    expect(both.map(({ kind }) => kind).sort()).toEqual(['proposed', 'resolved']);
    expect((await harness().history(agreed)).filter((each) => each === 'ReviewResolved')).toHaveLength(1);
  });

  // An admin issued himself a key, and used it to agree with himself.
  it('does not accept a key as a person', async () => {
    const token = await openReview.attempt_not_found();
    const payout = await openPayoutReview.payout_not_found();
    const refused = { kind: 'refused', refusal: { code: 'person_required' } };
    expect(await answerOf('ada', token, { caller })).toEqual(refused);
    expect(await answerOf('ada', payout, { caller, code: 'payout_not_found' })).toEqual(refused);
    expect(await harness().history(token)).not.toContain('ReviewResolutionProposed');
  });

  it('refuses a first answer that the review does not allow, and stores nothing of it', async () => {
    const token = await openReview.attempt_not_found();
    expect(await answerOf('ada', token, { resolution: 'acknowledged' })).toMatchObject({
      refusal: { code: 'resolution_not_allowed' },
    });
    expect(await harness().history(token)).not.toContain('ReviewResolutionProposed');
  });

  it('takes one in the other environments', async () => {
    const token = await openReview.attempt_not_found();
    const deps = { ...harness().inside, reviewsByTwo: ['production' as const] };
    const answer = { code: 'attempt_not_found', number: 1, resolution: 'payment_not_made' } as const;
    expect(await resolveReview(deps, { caller, token, reason, cause, ...answer })).toMatchObject({
      kind: 'resolved',
    });
  });
});
