import { describe, expect, it } from 'vitest';
import { accountNamed, card, payoutFor, quietMs, answered } from '../testing/harness.ts';
import { createFakeProvider } from '../testing/fake-provider.ts';
import { keepRecurringToken, recurringAlias } from '../testing/operation-cases.ts';
import { useHarness } from '../testing/use-harness.ts';
import type { CreatePayoutResult } from './create-payout.ts';

const other = { provider: createFakeProvider() };
const harness = useHarness(() => {
  other.provider = createFakeProvider();
  return { moreAccounts: [accountNamed('other', other.provider.provider, { priority: 1 })] };
});

const payoutOf = (result: CreatePayoutResult) => answered(result).payout;

const { pan, expires } = card;

describe('the destination of a payout', () => {
  const card = { pan, expires };
  const to = (account: string) => ({ bankAccount: { bankName: 'A bank', account } });
  const endingIn = (accountEnding: string) => ({ kind: 'bankAccount', bankName: 'A bank', accountEnding });
  it.each([
    ['card', { card }, { kind: 'card', sanitizedMask: '439296******1251' }, pan],
    ['bank account', to('DE02120300000000202051'), endingIn('2051'), 'DE02120300000000202051'],
    ['short bank account', to('DE4711'), endingIn('711'), 'DE4711'],
    ['very short bank account', to('DE47'), endingIn('47'), 'DE47'],
  ])('is a %s: the provider gets all of it, and the store a part', async (_, destination, kept, secret) => {
    const result = await harness().payOut(payoutFor('order-1', destination));
    expect(harness().provider.payoutRequests).toMatchObject([{ destination }]);
    expect(payoutOf(result).terms.destination).toEqual(kept);
    await harness().store.close();
    expect(harness().onDisk()).toContain(Object.values(kept)[1]);
    expect(harness().onDisk()).not.toContain(secret);
  });

  it("is the card of a recurring token: the provider gets its own token, through that token's account", async () => {
    await keepRecurringToken(harness(), { account: 'other' });
    const result = await harness().payOut(payoutFor('order-1', { recurringToken: recurringAlias }));
    expect(harness().provider.payoutRequests).toEqual([]);
    const destination = { recurringToken: 'service-recurring' };
    expect(other.provider.payoutRequests).toMatchObject([{ destination }]);
    expect(payoutOf(result)).toMatchObject({
      call: { account: 'other' },
      terms: { destination: { kind: 'recurring', recurringToken: recurringAlias } },
    });
  });

  it.each([
    ['of another team', { team: 'others' }],
    ['of another environment', { environment: 'production' as const }],
  ])('is a recurring token %s: refused, with nothing recorded or sent', async (_name, change) => {
    await keepRecurringToken(harness(), change);
    const input = payoutFor('order-1', { recurringToken: recurringAlias });
    const refusal = { code: 'recurring_token_not_found' };
    expect(await harness().payOut(input)).toEqual({ kind: 'refused', refusal });
    expect(other.provider.received).toEqual([]);
    // The idempotency key stays unused.
    await keepRecurringToken(harness(), {}, 'rec_own');
    const own = { ...input, request: { ...input.request, destination: { recurringToken: 'rec_own' } } };
    expect(payoutOf(await harness().payOut(own)).phase).toBe('approved');
  });
});

describe('a payout', () => {
  it('has its own number at the provider, and our callback URL', async () => {
    const { token } = answered(await harness().payOut(payoutFor('order-1')));
    expect(harness().provider.payoutRequests).toMatchObject([
      {
        orderNumber: `${token}.1`,
        callbackUrl: `https://gateway.example/callbacks/sandbox/${token}/x`,
      },
    ]);
  });

  it.each([
    ['amount', { amount: 501 }],
    ['destination', { destination: { card: { pan, expires } } }],
    ['callback address', { callbackUrl: 'https://shop.example/callback' }],
  ])('with another %s under the same key is refused without a call', async (_name, change) => {
    const input = payoutFor('order-1');
    await harness().payOut(input);
    const refusal = { code: 'idempotency_key_reused' };
    expect(await harness().payOut({ ...input, request: { ...input.request, ...change } })).toEqual({
      kind: 'refused',
      refusal,
    });
    expect(harness().provider.payoutRequests).toHaveLength(1);
  });

  it('to another bank account with the same ending under the same key is refused', async () => {
    const to = (account: string) => payoutFor('order-1', { bankAccount: { bankName: 'A bank', account } });
    await harness().payOut(to('DE02120300000000202051'));
    expect(await harness().payOut(to('DE99999999999999992051'))).toMatchObject({ kind: 'refused' });
  });

  it('that was not sent has failed without another account, for replays as well', async () => {
    harness().provider.faultsOf.payout.push({ kind: 'not-sent' });
    const result = await harness().payOut(payoutFor('order-1'));
    expect(payoutOf(result)).toMatchObject({ phase: 'failed', failure: 'not-sent' });
    expect(await harness().payOut(payoutFor('order-1'))).toMatchObject({ kind: 'answered', replayed: true });
    expect([harness().provider.received, other.provider.received]).toEqual([[], []]);
  });

  it('that the provider has lost opens a review, which may end it', async () => {
    harness().provider.payoutStatus = 'pending';
    const { token } = answered(await harness().payOut(payoutFor('order-1')));
    harness().provider.payouts.clear();
    await harness().clock.advance(quietMs);
    await harness().inquire(token);
    const reviews = (await harness().payouts.load(token))?.payout.reviews;
    expect(reviews).toMatchObject([{ evidence: { kind: 'only_here' } }]);
  });
});
