import { accountNamed, cause, createFakeProvider, payoutFor, useHarness } from '@tollgate/core/testing';
import { dayMs } from '@tollgate/service-kit';
import { expect, it } from 'vitest';
import { inquireNamed } from '@tollgate/core';
import { createApprovalGuard } from '@tollgate/approvals';
import { minute, useReconciliations } from './testing/reconciling.ts';

const other = { provider: createFakeProvider() };
const harness = useHarness(() => {
  other.provider = createFakeProvider();
  return {
    moreAccounts: [accountNamed('other', other.provider.provider, { priority: 1 })],
    guardsOf: (core) => [createApprovalGuard(core)],
  };
});
const { prepare, reconcile, strange, unmatchedToken, adoptAll } = useReconciliations(harness);

const shownOf = async (token: string) =>
  harness().provider.payments.get((await harness().payments.load(token))!.payment.serviceToken!)!;

// A run opened reviews for its first thousand rows, whether these needed one or not: in a larger account the same thousand came
// first each time, and the rest never reached a person.
it('opens a review for each operation that only the provider has, in the end', async () => {
  const prepared = prepare();
  for (let row = 0; row < 1_003; row += 1) strange(`row-${row}`, { createdAt: harness().clock.now() });
  expect((await reconcile(prepared)).counts.onlyAtService).toBe(1_003);
  const second = await reconcile(prepared);
  expect(second.differences.filter(({ isSettled }) => !isSettled)).toEqual([]);
  // The list shows the newest first.
  for (const serviceToken of ['row-0', 'row-1', 'row-2'])
    expect(
      (await prepared.deps.unmatched.load(unmatchedToken(serviceToken)))?.unmatched.reviews,
    ).toMatchObject([{ evidence: { kind: 'only_at_service' } }]);
});

// Adopted payments have foreign numbers: each opened a review. So did one whose shop numbered its orders in a form like ours:
// its refunds in the console were never seen.
it.each(['shop-1', 'pay_2024.17'])(
  'recognizes adopted payments by their provider token (%s)',
  async (orderNumber) => {
    const prepared = prepare();
    strange('service-shop', { orderNumber, product: 'Tea' });
    const rows = await adoptAll();
    await prepared.catchUp(rows[0]!);
    const { counts } = await reconcile(prepared);
    expect(counts).toMatchObject({ matched: 1, onlyAtService: 0, onlyHere: 0 });
  },
);

// The operator had looked for the review a moment before it was opened: it was open indefinitely. So was a second one, of another amount, that
// took the place of one that the operator had seen.
it.each([undefined, 100])(
  'leaves no review of a payment that is adopted during the comparison (first seen with %s)',
  async (amount) => {
    const prepared = prepare();
    const { deps } = prepared;
    strange('service-shop', { orderNumber: 'shop-1', product: 'Tea' });
    if (amount !== undefined) {
      const shop = harness().provider.payments.get('service-shop')!;
      const later = { amount: shop.amount };
      Object.assign(shop, { amount });
      await reconcile(prepared);
      Object.assign(shop, later);
    }
    const { unmatched } = deps;
    let isAdopted = false;
    deps.unmatched = {
      ...unmatched,
      async execute(...input) {
        if (!isAdopted) await adoptAll();
        isAdopted = true;
        return unmatched.execute(...input);
      },
    };
    expect((await reconcile(prepared)).counts).toMatchObject({ onlyAtService: 1 });
    expect((await unmatched.load(unmatchedToken('service-shop')))?.unmatched.reviews).toEqual([]);
  },
);

// It counted as known, because another payment of ours had its number by then: 900 were taken, without a review.
it('keeps the review of a payment lost by a restore if its team repeats it just then', async () => {
  const prepared = prepare();
  const { deps } = prepared;
  const { orderNumber } = await shownOf(await harness().approved('order-1'));
  strange('service-lost', { orderNumber });
  const { payments, unmatched } = deps;
  let isRepeated = false;
  deps.payments = { ...payments, load: async (each) => (isRepeated ? payments.load(each) : undefined) };
  deps.unmatched = {
    ...unmatched,
    async execute(...input) {
      isRepeated = true;
      return unmatched.execute(...input);
    },
  };
  await reconcile(prepared);
  const lost = await unmatched.load(unmatchedToken('service-lost'));
  expect(lost?.unmatched.reviews).toHaveLength(1);
});

// The run that opened the review had no store when it checked again. Later runs found the payment, and left its review open,
// even if both sides differed by then (simulation, seeds 20483
// and 189703).
it.each([
  ['matched', {}],
  ['differing', { currency: 'USD' }],
])('ends the review of an adopted payment that an earlier run has left open, %s', async (count, shown) => {
  const prepared = prepare();
  const { unmatched } = prepared.deps;
  strange('service-shop', { orderNumber: 'shop-1', product: 'Tea' });
  const rows = await adoptAll();
  await prepared.catchUp(rows[0]!);
  const named = { environment: 'sandbox', account: 'main', operation: 'payment' } as const;
  const facts = { ...named, serviceToken: 'service-shop', status: 'approved', amount: 100, currency: 'EUR' };
  const token = unmatchedToken('service-shop');
  await unmatched.execute(token, { type: 'ObserveUnmatched', facts: { ...facts, refundedAmount: 0 } }, cause);
  expect((await unmatched.load(token))?.unmatched.reviews).toHaveLength(1);
  Object.assign(await shownOf(rows[0]!), shown);
  expect((await reconcile(prepared, { isDryRun: true })).counts).toMatchObject({ [count]: 1 });
  expect((await unmatched.load(token))?.unmatched.reviews).toHaveLength(1);
  expect((await reconcile(prepared)).counts).toMatchObject({ [count]: 1, onlyAtService: 0 });
  expect((await unmatched.load(token))?.unmatched.reviews).toEqual([]);
});

// A payout announced a moment before midnight UTC is in the provider's list of the next day.
it('recognizes a payout across midnight if the provider shows no order number', async () => {
  const prepared = prepare();
  const payout = await harness().payOut(payoutFor('payout-1'));
  const token = 'aggregate' in payout && payout.aggregate ? payout.aggregate.token : '';
  await harness().inquire(token);
  await prepared.catchUp(token);
  for (const each of harness().provider.payouts.values()) {
    delete (each as { orderNumber?: string }).orderNumber;
    each.createdAt = harness().clock.now() + dayMs;
  }
  const { counts } = await reconcile(prepared, { waitMs: dayMs + minute });
  expect(counts).toMatchObject({ matched: 1, onlyAtService: 0 });
});

// Without a number and a time, a new payment, or one that the index does not have yet, counted as foreign.
it('waits for the end of the day if the provider shows neither number nor time', async () => {
  const prepared = prepare();
  const token = await harness().approved('order-1');
  const shown = await shownOf(token);
  delete (shown as { orderNumber?: string }).orderNumber;
  delete shown.createdAt;
  const { counts } = await reconcile(prepared, { waitMs: 10 });
  expect(counts).toMatchObject({ underWay: 1, onlyAtService: 0 });
});

it('sees that the currency differs', async () => {
  const prepared = prepare();
  const token = await harness().approved('order-1');
  await prepared.catchUp(token);
  (await shownOf(token)).currency = 'USD';
  const { counts } = await reconcile(prepared);
  expect(counts).toMatchObject({ matched: 0, differing: 1 });
  expect((await harness().payments.load(token))!.payment.reviews).toMatchObject([
    { evidence: { kind: 'terms_disagree' } },
  ]);
});

// The circuit was open just then: the run ended as complete, and the second payment was never inquired.
it('compares a page again if a second payment could not be inquired', async () => {
  const prepared = prepare();
  const token = await harness().approved('order-1');
  await prepared.catchUp(token);
  strange('service-twin', { orderNumber: (await shownOf(token)).orderNumber });
  const { askAccount } = harness();
  const silent = Object.assign(async () => ({ kind: 'not-asked' as const }), { mayAsk: () => false });
  prepared.deps.askAccount = Object.assign(askAccount.bind(undefined), { mayAsk: () => false });
  prepared.deps.inquireNamed = (of, serviceToken, why) =>
    inquireNamed({ ...harness(), askAccount: silent }, of, serviceToken, why);
  expect((await reconcile(prepared)).end).toBe('interrupted');
});

it('reads on if a full page is followed by more than the provider counts', async () => {
  const prepared = prepare();
  for (let row = 0; row < 700; row += 1) strange(`row-${row}`, { status: 'declined' });
  const { provider } = harness().provider;
  const shown = provider.pageOfPayments;
  provider.pageOfPayments = async (query) => {
    const outcome = await shown(query);
    return outcome.kind === 'accepted' ? { ...outcome, answer: { ...outcome.answer, total: 500 } } : outcome;
  };
  expect((await reconcile(prepared, { isDryRun: true })).counts.onlyAtService).toBe(700);
});

async function paidOut(): Promise<string> {
  const paid = await harness().payOut(payoutFor('payout-1'));
  return 'aggregate' in paid && paid.aggregate ? paid.aggregate.token : '';
}
const paidUnder = (token: string, { serviceToken = 'service-payout' } = {}) =>
  harness().provider.payouts.set(serviceToken, {
    serviceToken,
    status: 'approved',
    amount: 500,
    currency: 'EUR',
    orderNumber: `${token}.1`,
    createdAt: harness().clock.now(),
  });

// The rows of a page are compared at the same time: one of them was recorded, and the others were not, permanently.
it('opens a review for each of several under the number, of whichever account', async () => {
  const prepared = prepare();
  await harness().approved('order-1', 500);
  const token = await paidOut();
  await prepared.catchUp(token);
  const numbers = Array.from({ length: 8 }, (_, index) => `service-${index}`);
  for (const serviceToken of numbers) paidUnder(token, { serviceToken });
  const { differences } = await reconcile(prepared);
  expect(differences.map(({ isSettled }) => isSettled)).toEqual(numbers.map(() => true));
  const reviewed = async () =>
    (await harness().payouts.load(token))?.payout.reviews.map(({ evidence }) => evidence['serviceToken']);
  expect(((await reviewed()) ?? []).toSorted()).toEqual(numbers);
  other.provider.payouts.set('elsewhere', {
    serviceToken: 'elsewhere',
    status: 'approved',
    amount: 500,
    currency: 'EUR',
    orderNumber: `${token}.1`,
  });
  const listed = { account: 'other', orderNumber: `${token}.1` };
  expect(await inquireNamed(harness(), token, 'elsewhere', cause, listed)).toBe('inquired');
  expect(await reviewed()).toContain('elsewhere');
});

it('trusts the token in the list, whatever a retrieval shows', async () => {
  const prepared = prepare();
  await harness().approved('order-1', 500);
  const token = await paidOut();
  await prepared.catchUp(token);
  paidUnder(token);
  const { provider } = harness().provider;
  const retrieve = provider.inquirePayout;
  provider.inquirePayout = async (serviceToken) => {
    const outcome = await retrieve(serviceToken);
    return outcome.kind === 'accepted'
      ? { ...outcome, answer: { ...outcome.answer, orderNumber: 'po_x.1' } }
      : outcome;
  };
  expect((await reconcile(prepared)).differences).toMatchObject([{ token, isSettled: true }]);
});

// If a retrieval shows no order number, the run reported this as settled, and it was sent.
it('finds it even if the provider shows its number only in the list; a row without a review is not settled', async () => {
  const prepared = prepare();
  await harness().approved('order-1', 500);
  const token = await paidOut();
  await prepared.catchUp(token);
  const { provider } = harness().provider;
  const retrieve = provider.inquirePayout;
  provider.inquirePayout = async (serviceToken) => {
    const outcome = await retrieve(serviceToken);
    if (outcome.kind !== 'accepted') return outcome;
    const { orderNumber: _, ...answer } = outcome.answer;
    return { ...outcome, answer };
  };
  paidUnder(token);
  const { inquireNamed: ask } = prepared.deps;
  prepared.deps.inquireNamed = (of, serviceToken, why) =>
    ask(of, serviceToken, why, { account: 'main', orderNumber: undefined });
  expect((await reconcile(prepared)).differences).toMatchObject([{ token, isSettled: false }]);
  prepared.deps.inquireNamed = ask;
  expect((await reconcile(prepared)).differences).toMatchObject([{ token, isSettled: true }]);
  const payout = (await harness().payouts.load(token))?.payout;
  expect(payout?.reviews).toMatchObject([{ evidence: { kind: 'second_payout_found' } }]);
});

// The token of a callback or a list was inquired at a hanging account first, although the account of the payment knew it.
it('inquires the account of the payment first about another token of its number', async () => {
  const token = await harness().approved('order-1');
  strange('service-twin', { orderNumber: (await shownOf(token)).orderNumber });
  const { accounts } = harness();
  const turned = { ...accounts, all: () => accounts.all().toReversed() };
  expect(await inquireNamed({ ...harness(), accounts: turned }, token, 'service-twin', cause)).toBe(
    'inquired',
  );
  expect(other.provider.inquiries.retrieved).toBe(0);
});
