/**
 * A call that something on the way delivers twice, and of which we read the second answer: the first delivery has taken the
 * money that was there, or has met no limit.
 */
import type { CallOutcome } from '@tollgate/payment-domain';
import type { InquiryOutcome, Provider } from '@tollgate/provider';
import { systemClock } from '@tollgate/service-kit';
import { beforeEach, expect, it } from 'vitest';
import type { CreatePayoutResult } from '../operations/create-payout.ts';
import { type Instance, accountNamed, card, payoutFor, teaFor } from '../testing/harness.ts';
import { useHarness } from '../testing/use-harness.ts';

const harness = useHarness();
/** What is answered in place of the next calls and lists; `isTwice`: the call has had its effect before. */
const next = { isTwice: false, answers: [] as CallOutcome<never>[], lists: [] as InquiryOutcome<never>[] };
let instance: Instance;

beforeEach(() => {
  Object.assign(next, { isTwice: false, answers: [], lists: [] });
  const { provider } = harness().provider;
  async function deliver<Answer>(call: () => Promise<CallOutcome<Answer>>): Promise<CallOutcome<Answer>> {
    const answer = next.answers.shift();
    const outcome = answer === undefined || next.isTwice ? await call() : answer;
    return answer ?? outcome;
  }
  const doubled: Provider = {
    ...provider,
    authorize: (...request) => deliver(() => provider.authorize(...request)),
    payout: (...request) => deliver(() => provider.payout(...request)),
    refund: (...request) => deliver(() => provider.refund(...request)),
    listPayments: async (query) => next.lists.shift() ?? provider.listPayments(query),
    listPayouts: async (query) => next.lists.shift() ?? provider.listPayouts(query),
  };
  instance = harness().startInstance({ clock: systemClock, accounts: [accountNamed('main', doubled)] });
});

const tooMany = { kind: 'not-sent', reason: 'http 429', isAnswered: true } as const;
const noMoney = (code: string): CallOutcome<never> => ({
  kind: 'refused',
  errors: [{ code, kind: 'processing_error' }],
});

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
const charges = () => [...harness().provider.payments.values()].map(({ orderNumber }) => orderNumber);
const refund = async () => {
  const token = await harness().approved('order-1', 200);
  const result = await instance.refund(token, 'a', 200);
  return result.kind === 'answered' ? result.aggregate.refund.state : result.kind;
};

// 500 were there and went out; the second delivery was answered `balance_less_than_amount`. The payout counted as failed, its
// amount was free again, and the next payout of 500 took another team's money.
it('a payout of all that is there is not taken for failed', async () => {
  Object.assign(next, { isTwice: true, answers: [noMoney('balance_less_than_amount')] });
  const first = await payOut();
  expect(phaseOf(first)).toBe('unresolved');
  expect(await phaseAfterInquiry(first)).toBe('approved');
  expect(harness().provider.payouts.size).toBe(1);
});

it('a payout that was really refused for want of money has failed at once', async () => {
  next.answers = [noMoney('balance_less_than_amount')];
  expect(phaseOf(await payOut())).toBe('failed');
});

// Without an inquiry that answers, the refusal proves nothing.
it('a payout of which no inquiry can be made is unresolved', async () => {
  next.answers = [noMoney('balance_less_than_amount')];
  next.lists = [{ kind: 'unknown', reason: 'timeout' }];
  expect(phaseOf(await payOut())).toBe('unresolved');
});

// The card was charged; the second delivery met HTTP 429, which says that nothing was done. The gateway itself made another
// attempt, and the card was charged twice.
it('a charge whose second delivery meets the rate limit is not made once more', async () => {
  Object.assign(next, { isTwice: true, answers: [tooMany] });
  const token = await charge();
  expect(charges()).toEqual([`${token}.1`]);
});

it('a charge that met the rate limit itself is made once more', async () => {
  next.answers = [tooMany];
  const token = await charge();
  expect(charges()).toEqual([`${token}.2`]);
});

// A service whose limit is reached refuses the inquiry, too.
it('an inquiry that meets the rate limit is made again', async () => {
  Object.assign(next, { answers: [tooMany], lists: [tooMany, tooMany] });
  const token = await charge();
  expect(charges()).toEqual([`${token}.2`]);
});

// 200 of 200 went back; the second delivery was answered `no_money_available_on_refund`. The refund counted as declined, and
// a second request gave back 400 in all.
it('a refund of all that is there is not taken for declined', async () => {
  Object.assign(next, { isTwice: true, answers: [noMoney('no_money_available_on_refund')] });
  expect(await refund()).toBe('approved');
});

it('a refund that was really refused for want of money is declined at once', async () => {
  next.answers = [noMoney('no_money_available_on_refund')];
  expect(await refund()).toBe('declined');
});
