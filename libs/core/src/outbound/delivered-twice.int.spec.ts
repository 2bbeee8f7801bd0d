/**
 * A proxy delivers a call twice, and we read the second answer. The first delivery took effect; the second one is refused, with
 * any code.
 */
import type { CallOutcome } from '../domain/outbound-call/outbound-call.ts';
import type { InquiryOutcome, Provider } from '../provider.ts';
import { type FakeProvider, createFakeProvider } from '../testing/fake-provider.ts';
import { systemClock } from '@tollgate/service-kit';
import { beforeEach, expect, it } from 'vitest';
import type { CreatePayoutResult } from '../operations/create-payout.ts';
import { type Instance, accountNamed, card, payoutFor, quietMs, teaFor } from '../testing/harness.ts';
import { useHarness } from '../testing/use-harness.ts';

const harness = useHarness();
/** The answers to the next calls and lists; `isTwice`: the call has taken effect before. */
const next = { isTwice: false, answers: [] as CallOutcome<never>[], lists: [] as InquiryOutcome<never>[] };
let instance: Instance;
let doubled: Provider;
let other: FakeProvider;

beforeEach(() => {
  Object.assign(next, { isTwice: false, answers: [], lists: [] });
  const { provider } = harness().provider;
  async function deliver<Answer>(call: () => Promise<CallOutcome<Answer>>): Promise<CallOutcome<Answer>> {
    const answer = next.answers.shift();
    const outcome = answer === undefined || next.isTwice ? await call() : answer;
    return answer ?? outcome;
  }
  doubled = {
    ...provider,
    authorize: (...request) => deliver(() => provider.authorize(...request)),
    payout: (...request) => deliver(() => provider.payout(...request)),
    refund: (...request) => deliver(() => provider.refund(...request)),
    listPayments: async (query) => next.lists.shift() ?? provider.listPayments(query),
    listPayouts: async (query) => next.lists.shift() ?? provider.listPayouts(query),
  };
  other = createFakeProvider();
  instance = harness().startInstance({
    clock: systemClock,
    accounts: [accountNamed('main', doubled), accountNamed('other', other.provider, { priority: 1 })],
  });
});

const tooMany = { kind: 'not-sent', reason: 'http 429', isAnswered: true } as const;
const refusedAs = (code: string, kind: string): CallOutcome<never> => ({
  kind: 'refused',
  errors: [{ code, kind }],
  ...(kind === 'authentication_error' && { isAccountRefused: true }),
});
const noMoney = refusedAs('balance_less_than_amount', 'processing_error');
const refusals = [
  noMoney,
  refusedAs('refund_exceeds_amount', 'processing_error'),
  refusedAs('some_code_of_theirs', 'processing_error'),
  refusedAs('incorrect_amount', 'invalid_request_error'),
  refusedAs('incorrect_private_key', 'authentication_error'),
];

const payOut = () => instance.payOut(payoutFor('payout-1'));
const phaseOf = (result: CreatePayoutResult) =>
  result.kind === 'answered' ? result.aggregate.payout.phase : result.kind;
async function phaseAfterInquiry(result: CreatePayoutResult) {
  const token = result.kind === 'answered' ? result.aggregate.token : '';
  await instance.inquire(token);
  return (await instance.payouts.load(token))?.payout.phase;
}
const charge = async () => {
  const created = await instance.create(teaFor('order-1', 500, { card }));
  return created.kind === 'answered' ? created.aggregate.token : created.kind;
};
const charges = () =>
  [harness().provider, other].flatMap(({ payments }) =>
    [...payments.values()].map(({ orderNumber }) => orderNumber),
  );
const refund = async () => {
  const token = await harness().approved('order-1', 200);
  const result = await instance.refund(token, 'a', 200);
  return result.kind === 'answered' ? result.aggregate.refund.state : result.kind;
};

// The balance was 1,000 and was paid out; the second delivery was refused. The payout counted as failed, its amount was free
// again, and the next payout took another team's money.
it.each(refusals)(
  'a payout whose second delivery is refused is not mistaken for failed: %j',
  async (refusal) => {
    Object.assign(next, { isTwice: true, answers: [refusal] });
    const first = await payOut();
    expect(phaseOf(first)).toBe('unresolved');
    expect(await phaseAfterInquiry(first)).toBe('approved');
    expect(harness().provider.payouts.size).toBe(1);
  },
);

it.each(refusals)('a payout that was really refused has failed at once: %j', async (refusal) => {
  next.answers = [refusal];
  expect(phaseOf(await payOut())).toBe('failed');
});

// Without an answered inquiry, the refusal proves nothing.
it('a payout whose inquiry fails is unresolved', async () => {
  next.answers = [noMoney];
  next.lists = [{ kind: 'unknown', reason: 'timeout' }];
  expect(phaseOf(await payOut())).toBe('unresolved');
});

// The card was charged; the second delivery was refused. The gateway made another attempt through another account, because
// the first one was refused as ours, and the card was charged twice.
it.each([tooMany, ...refusals])(
  'a charge whose second delivery is refused is not attempted again: %j',
  async (answer) => {
    Object.assign(next, { isTwice: true, answers: [answer] });
    const token = await charge();
    expect(charges()).toEqual([`${token}.1`]);
    await instance.inquire(token);
    expect((await harness().payments.load(token))?.payment.phase).toBe('approved');
  },
);

it('a charge whose account was really refused is attempted through another account', async () => {
  next.answers = [refusedAs('incorrect_private_key', 'authentication_error')];
  const token = await charge();
  expect(charges()).toEqual([`${token}.2`]);
});

it('a charge that an account refuses without answering the inquiry is not attempted through another account', async () => {
  const refusal = refusedAs('incorrect_private_key', 'authentication_error');
  Object.assign(next, { answers: [refusal], lists: [refusal] });
  const token = await charge();
  expect(charges()).toEqual([]);
  expect((await harness().payments.load(token))?.payment.phase).toBe('unresolved');
});

it('a charge that met the rate limit itself is attempted again', async () => {
  next.answers = [tooMany];
  const token = await charge();
  expect(charges()).toEqual([`${token}.2`]);
});

// A provider at its limit refuses the inquiry as well.
it('an inquiry that meets the rate limit is repeated', async () => {
  Object.assign(next, { answers: [tooMany], lists: [tooMany, tooMany] });
  const token = await charge();
  expect(charges()).toEqual([`${token}.2`]);
});

// The money was refunded; the second delivery was refused. The refund counted as declined, and a second request refunded it
// again.
it.each(refusals)(
  'a refund whose second delivery is refused is not mistaken for declined: %j',
  async (refusal) => {
    Object.assign(next, { isTwice: true, answers: [refusal] });
    expect(await refund()).toBe('approved');
  },
);

// A refund of disputed money was certainly refused, and answered 202: it blocked the rest and waited for a person.
it.each(refusals)(
  'a refund that was really refused is declined at once, with its reason: %j',
  async (refusal) => {
    next.answers = [refusal];
    expect(await refund()).toBe('declined');
  },
);

it('a refund whose inquiries show no sum is unresolved', async () => {
  const token = await harness().approved('order-1', 200);
  const { providerOrderNumber } = (await harness().payments.load(token))!.payment.attempt;
  harness().provider.change(providerOrderNumber, { refundedAmount: undefined });
  next.answers = [noMoney];
  const result = await instance.refund(token, 'a', 100);
  expect(result.kind === 'answered' && result.aggregate.refund.state).toBe('unresolved');
});

// It was refused, and its only inquiry failed: it waited for a person, who did not see the refusal.
it('a refusal whose inquiry failed is final after the quiet period, with its reason, and without a review', async () => {
  const { clock } = harness();
  const quick = harness().startInstance({ clock, accounts: [accountNamed('main', doubled)] });
  const lost = { kind: 'unknown', reason: 'timeout' } as const;
  Object.assign(next, { answers: [noMoney, noMoney], lists: [lost, lost] });
  const { errors } = noMoney as Extract<typeof noMoney, { kind: 'refused' }>;
  const charged = await quick.create(teaFor('order-1', 500, { card }));
  const paidOut = await quick.payOut(payoutFor('payout-1'));
  const tokens = [charged, paidOut].map((each) => (each.kind === 'answered' ? each.aggregate.token : ''));
  await clock.advance(quietMs);
  for (const token of tokens) await quick.inquire(token);
  const failed = { phase: 'failed', failure: 'refused', errors, reviews: [] };
  expect((await quick.payments.load(tokens[0]!))?.payment).toMatchObject(failed);
  expect((await quick.payouts.load(tokens[1]!))?.payout).toMatchObject(failed);
});
