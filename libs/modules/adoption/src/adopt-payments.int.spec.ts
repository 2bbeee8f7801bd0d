import { type ObservedPayment, type FoundPayment, walletNameOf } from '@tollgate/core';
import { describe, expect, it } from 'vitest';
import { caller, teaFor, useHarness } from '@tollgate/core/testing';
import { createUnmatchedOperations, standingsOfPayment, deriveUnmatchedToken } from '@tollgate/books';
import { type AdoptionOrder, adoptPayments } from './adopt-payments.ts';
import type { AdoptedRow } from './adopt-row.ts';

const harness = useHarness();

/** The day of the fake clock. */
const today = () => new Date(harness().clock.now()).toISOString().slice(0, 10);

type Planted = Partial<ObservedPayment> & Omit<Partial<FoundPayment>, 'observed'>;

/** A payment that the shop has made at the provider directly. */
function plant(serviceToken: string, changes: Planted = {}): void {
  const { provider, clock } = harness();
  provider.payments.set(serviceToken, {
    serviceToken,
    status: 'approved',
    amount: 1000,
    currency: 'EUR',
    orderNumber: `shop-${serviceToken}`,
    authorizedAmount: 0,
    refundedAmount: 0,
    createdAt: clock.now(),
    product: 'Tea',
    callbackUrl: 'https://shop.example/hooks',
    ...changes,
  });
}

interface Run {
  rows: AdoptedRow[];
  work: ReturnType<typeof adoptPayments>;
}

function begin(order: Partial<AdoptionOrder> = {}, signal = new AbortController().signal): Run {
  const { store, vault, clock, ids, askAccount, installation } = harness();
  const rows: AdoptedRow[] = [];
  const work = adoptPayments(
    {
      installation,
      store,
      vault,
      clock,
      ids,
      askAccount,
      findByServiceToken: knownByToken,
      actor: { kind: 'service', name: 'spec' },
    },
    {
      environment: 'sandbox',
      account: 'main',
      team: caller.team,
      wallet: walletNameOf(caller),
      from: today(),
      to: today(),
      matches: () => true,
      isDryRun: false,
      ...order,
    },
    { signal, onRow: (row) => rows.push(row), onDay: () => undefined },
  );
  return { rows, work };
}

/** Like an index that knows the gateway's payments by their provider tokens. */
let known: Record<string, { team: string }> = {};
const knownByToken = async (serviceToken: string) => known[serviceToken];

async function adopt(order: Partial<AdoptionOrder> = {}) {
  const { rows, work } = begin(order);
  const tally = await harness().passTime(work);
  const outcomes = Object.fromEntries(Object.entries(tally.outcomes).filter(([, count]) => count > 0));
  return { rows, outcomes, tally };
}

it('adopts payments of every status, and makes no call that moves money', async () => {
  for (const status of ['init', 'pending', 'approved', 'declined', 'refunded', 'expired'])
    plant(status, { status, ...(status === 'refunded' && { refundedAmount: 1000 }) });
  const { outcomes, tally, rows } = await adopt();
  expect(outcomes).toEqual({ adopted: 6 });
  expect(tally.sums).toEqual([{ currency: 'EUR', approved: '2000', refunded: '1000' }]);
  for (const { token = '', found } of rows) {
    expect(await harness().history(token)).toEqual(['PaymentAdopted']);
    const { payment } = (await harness().payments.load(token))!;
    expect(payment).toMatchObject({ team: caller.team, phase: found.observed.status });
  }
  expect(harness().provider.received).toEqual([]);
});

it('changes nothing when repeated', async () => {
  plant('a');
  plant('b', { refundedAmount: 400 });
  const first = await adopt();
  const { provider, onDisk } = harness();
  const before = onDisk().length;
  const { retrieved } = provider.inquiries;
  const again = await adopt();
  expect(again.outcomes).toEqual({ adopted_before: 2 });
  expect(again.rows.map(({ token }) => token).sort()).toEqual(first.rows.map(({ token }) => token).sort());
  expect([onDisk().length, provider.inquiries.retrieved]).toEqual([before, retrieved]);
});

it('a dry run reports the same, and changes nothing', async () => {
  plant('a');
  plant('b', { status: 'frozen' });
  const before = harness().onDisk().length;
  const dry = await adopt({ isDryRun: true });
  expect(dry.outcomes).toEqual({ adopted: 1, payment_not_readable: 1 });
  expect(harness().onDisk().length).toBe(before);
  expect((await adopt()).outcomes).toEqual(dry.outcomes);
});

// A reconciliation found it before the adoption: otherwise a person would be asked for a day or more.
it('ends the review of a payment without an owner at once, and leaves it in a dry run', async () => {
  plant('a');
  const unmatched = createUnmatchedOperations(harness());
  const found = { environment: 'sandbox', account: 'main', operation: 'payment', serviceToken: 'a' } as const;
  const facts = { ...found, status: 'approved', amount: 1000, currency: 'EUR', refundedAmount: 0 };
  const token = deriveUnmatchedToken(found);
  const reviews = async () => (await unmatched.load(token))?.unmatched.reviews;
  const actor = { kind: 'service', name: 'spec' } as const;
  const cause = { correlationId: 'spec', causationId: 'spec', actor };
  await unmatched.execute(token, { type: 'ObserveUnmatched', facts }, cause);
  await adopt({ isDryRun: true });
  expect(await reviews()).toHaveLength(1);
  await adopt();
  expect(await reviews()).toEqual([]);
});

describe('a recurring token', () => {
  it('is stored behind an alias, even if only the retrieval shows it, and can be charged', async () => {
    plant('a', { recurringToken: 'service-recurring-a' });
    const { provider } = harness();
    const { pageOfPayments } = provider.provider;
    provider.provider.pageOfPayments = async (query) => {
      const outcome = await pageOfPayments(query);
      if (outcome.kind === 'accepted') for (const row of outcome.answer.found) delete row.recurringToken;
      return outcome;
    };
    const { rows, tally } = await adopt();
    const [{ recurringToken = '' } = {}] = rows;
    expect([recurringToken, tally.recurringTokens]).toEqual([expect.stringMatching(/^rec_/), 1]);
    const charge = await harness().create(teaFor('order-1', 500, { recurringToken }));
    expect(charge).toMatchObject({ kind: 'answered' });
    expect(provider.requests).toMatchObject([{ source: { recurringToken: 'service-recurring-a' } }]);
    expect((await adopt()).rows.map((row) => row.recurringToken)).toContain(recurringToken);
  });
});

describe('not adopted', () => {
  it('those that do not match', async () => {
    plant('a');
    plant('b', { orderNumber: 'books-1' });
    const { outcomes } = await adopt({
      matches: ({ observed }) => observed.orderNumber?.startsWith('shop-') === true,
    });
    expect(outcomes).toEqual({ adopted: 1, not_matching: 1 });
  });

  it('those of the gateway, even if the provider does not show our number', async () => {
    const approved = await harness().approved('order-1');
    const { provider, payments } = harness();
    expect((await adopt()).outcomes).toEqual({ made_by_gateway: 1 });
    const { serviceToken = '' } = (await payments.load(approved))!.payment;
    // Its callbacks come to us.
    delete provider.payments.get(serviceToken)?.orderNumber;
    provider.payments.get(serviceToken)!.callbackUrl = `https://gw.example/callbacks/sandbox/${approved}/k.x`;
    expect((await adopt()).outcomes).toEqual({ made_by_gateway: 1 });
    // Known by its token alone.
    delete provider.payments.get(serviceToken)?.callbackUrl;
    known = { [serviceToken]: { team: 'demo' } };
    expect((await adopt()).outcomes).toEqual({ made_by_gateway: 1 });
    known = {};
    expect(await harness().history(approved)).not.toContain('PaymentAdopted');
  });

  it('those of another gateway under the same account', async () => {
    plant('a', { orderNumber: `pay_${'a'.repeat(26)}.1` });
    expect((await adopt()).outcomes).toEqual({ made_by_another_gateway: 1 });
  });

  it('those of another team', async () => {
    plant('a');
    await adopt({ team: 'books' });
    const { outcomes, rows } = await adopt();
    expect(outcomes).toEqual({ adopted_by_another_team: 1 });
    expect(rows).toMatchObject([{ team: 'books' }]);
    expect(rows[0]).not.toHaveProperty('token');
  });

  it('those that no longer exist when retrieved', async () => {
    plant('a');
    const { provider } = harness();
    provider.provider.inquirePayment = async () => ({ kind: 'missing' });
    expect((await adopt()).outcomes).toEqual({ payment_not_found: 1 });
  });
});

it('if two teams adopt the same payments concurrently, each payment has one team, with its recurring token', async () => {
  for (let index = 0; index < 40; index += 1)
    plant(`p${index}`, { recurringToken: `service-recurring-${index}` });
  const both = [begin(), begin({ team: 'books' })];
  const tallies = await harness().passTime(Promise.all(both.map(({ work }) => work)));
  expect(tallies.map(({ outcomes }) => outcomes.adopted).reduce((a, b) => a + b)).toBe(40);
  for (const { token, recurringToken = '' } of both.flatMap(({ rows }) => rows)) {
    if (token === undefined) continue;
    const { payment } = (await harness().payments.load(token))!;
    const alias = await harness().recurringTokens.find(recurringToken);
    expect([alias?.team, payment.recurringToken]).toEqual([payment.team, recurringToken]);
  }
});

it('rows that move to the next page during the read count once, and none is missed', async () => {
  for (let index = 0; index < 1_100; index += 1) plant(`p${index}`, { status: 'declined' });
  const { provider } = harness();
  provider.beforePage = async ({ page }) => {
    if (page === 2) for (let index = 0; index < 3; index += 1) plant(`new${index}`, { status: 'declined' });
  };
  const { rows, outcomes } = await adopt();
  const tokens = rows.map(({ found }) => found.observed.serviceToken);
  expect(new Set(tokens).size).toBe(tokens.length);
  expect(tokens.filter((token) => token.startsWith('p'))).toHaveLength(1_100);
  expect(outcomes).toEqual({ adopted: tokens.length });
  expect((await adopt()).outcomes['adopted'] ?? 0).toBe(1_103 - tokens.length);
});

it('each day is read separately, and only the requested ones', async () => {
  const dayMs = 86_400_000;
  const { clock } = harness();
  for (const age of [0, 1, 2, 3]) plant(`p${age}`, { createdAt: clock.now() - age * dayMs });
  const dayOf = (age: number) => new Date(clock.now() - age * dayMs).toISOString().slice(0, 10);
  const { rows } = await adopt({ from: dayOf(2), to: dayOf(1) });
  expect(rows.map(({ found }) => found.observed.serviceToken)).toEqual(['p2', 'p1']);
  const { createdAt } = (await harness().payments.load(rows[0]?.token ?? ''))!;
  expect(createdAt).toBe(clock.now() - 2 * dayMs);
});

describe('ends early', () => {
  it('continues after a stop, and adopts no payment twice', async () => {
    for (let index = 0; index < 60; index += 1) plant(`p${index}`);
    const stopping = new AbortController();
    const { provider } = harness();
    const { inquirePayment } = provider.provider;
    provider.provider.inquirePayment = async (token) => {
      if (provider.inquiries.retrieved === 20) stopping.abort();
      return inquirePayment(token);
    };
    const { rows, work } = begin({}, stopping.signal);
    await expect(harness().passTime(work)).rejects.toMatchObject({ code: 'stopped' });
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.length).toBeLessThan(60);
    const { outcomes } = await adopt();
    expect(outcomes).toEqual({ adopted: 60 - rows.length, adopted_before: rows.length });
  });

  it('if the provider does not answer for a minute', async () => {
    plant('a');
    const { provider, clock } = harness();
    provider.answersInquiries = false;
    const begunAt = clock.monotonic();
    await expect(adopt()).rejects.toMatchObject({ code: 'provider_not_answering', retryable: true });
    expect(clock.monotonic() - begunAt).toBeGreaterThan(55_000);
    expect(provider.pagesRead).toBe(7);
  });

  it('at once if the provider refuses the account', async () => {
    const { provider } = harness();
    const errors = [{ code: 'incorrect_private_key', kind: 'authentication_error' }];
    provider.provider.pageOfPayments = async () => ({ kind: 'refused', errors });
    await expect(adopt()).rejects.toMatchObject({
      code: 'provider_refused',
      message: expect.stringContaining('incorrect_private_key'),
    });
  });
});

it('without a total from the provider, pages are read until one is empty', async () => {
  const { provider } = harness();
  const { pageOfPayments } = provider.provider;
  provider.provider.pageOfPayments = async (query) => {
    const outcome = await pageOfPayments(query);
    if (outcome.kind === 'accepted') delete outcome.answer.total;
    return outcome;
  };
  plant('a');
  expect((await adopt()).outcomes).toEqual({ adopted: 1 });
  expect(provider.pagesRead).toBe(2);
});

// M7: money that a team had paid out before it moved was in the provider's list, and its adopted payments counted fully: 2,000
// of 1,000.
describe('the money of an adopted payment', () => {
  const amountsOf = async (token = '') => {
    const { payment } = (await harness().payments.load(token))!;
    const amounts = standingsOfPayment(payment)[0]?.amounts;
    return { available: amounts?.available ?? 0n, adopted: amounts?.adopted ?? 0n };
  };
  const [payable, notPayable] = [
    { available: 1_000n, adopted: 0n },
    { available: 0n, adopted: 1_000n },
  ];
  const tomorrow = () => new Date(harness().clock.now() + 86_400_000).toISOString().slice(0, 10);

  it.each([
    ['no day', () => ({}), notPayable],
    ['a later day', () => ({ payableFrom: tomorrow() }), notPayable],
    ['its day', () => ({ payableFrom: today() }), payable],
  ] as const)('under an order with %s', async (_, order, expected) => {
    plant('a');
    const { rows, work } = begin(order());
    await harness().passTime(work);
    expect(await amountsOf(rows[0]?.token)).toEqual(expected);
  });

  it('without a day of creation is not payable', async () => {
    plant('a', { createdAt: undefined as never });
    const { rows, work } = begin({ payableFrom: today() });
    await harness().passTime(work);
    expect(await amountsOf(rows[0]?.token)).toEqual(notPayable);
  });

  it('becomes payable by another run with a day, once', async () => {
    plant('a');
    const first = begin();
    await harness().passTime(first.work);
    const token = first.rows[0]?.token ?? '';
    await harness().passTime(begin({ payableFrom: today(), isDryRun: true }).work);
    expect(await amountsOf(token)).toEqual(notPayable);
    for (let run = 0; run < 2; run += 1) {
      const again = begin({ payableFrom: today() });
      await harness().passTime(again.work);
      expect(again.rows).toMatchObject([{ outcome: 'adopted_before' }]);
    }
    expect(await amountsOf(token)).toEqual(payable);
    expect((await harness().history(token)).filter((type) => type.startsWith('Adoption'))).toHaveLength(1);
  });
});
