/**
 * A call that something on the way delivers twice, and of which we read the second answer: the first delivery has taken the
 * money that was there, or has met no limit. The real sandbox behind the real adapter.
 */
import { readFile } from 'node:fs/promises';
import { type Provider, providers } from '@tollgate/provider';
import { Secret, systemClock } from '@tollgate/service-kit';
import type { Caller } from '@tollgate/teams';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startHarness } from '../../../payment-service/src/testing/harness.ts';
import type { CreatePayoutResult } from '../operations/create-payout.ts';
import type { RefundPaymentResult } from '../operations/refund-payment.ts';
import { type Instance, accountNamed, caller, card, payoutFor, teaFor } from '../testing/harness.ts';
import { useHarness } from '../testing/use-harness.ts';

const harness = useHarness();
let sandbox: Awaited<ReturnType<typeof startHarness>>;
let real: Provider;
let instance: Instance;
let twice = false;

beforeEach(async () => {
  twice = false;
  sandbox = await startHarness();
  const { httpsUrl, caFile } = sandbox.addresses();
  const ca = await readFile(caFile, 'utf8');
  real = providers['payment-service']({
    baseUrl: httpsUrl,
    privateKey: new Secret(sandbox.key()),
    ca,
    clock: systemClock,
  });
  /** What a proxy does that sends a request again whose answer it has lost. */
  const doubled: Provider = {
    ...real,
    async payout(...request) {
      if (twice) await real.payout(...request);
      return real.payout(...request);
    },
    async authorize(...request) {
      if (twice) {
        await real.authorize(...request);
        await sandbox.setFaults({ operation: 'create', fault: 'rate_limited', times: 1 });
      }
      twice = false;
      return real.authorize(...request);
    },
    async refund(...request) {
      if (twice) await real.refund(...request);
      return real.refund(...request);
    },
  };
  instance = harness().startInstance({ clock: systemClock, accounts: [accountNamed('main', doubled)] });
});
afterEach(async () => {
  await real.close();
  await sandbox.remove();
});

const shop: Caller = { ...caller, wallet: { kind: 'own' } };

async function paid(orderNumber: string, amount: number, by: Caller = shop): Promise<string> {
  const created = await instance.create({ ...teaFor(orderNumber, amount), caller: by });
  if (created.kind !== 'answered') throw new Error(created.kind);
  const { token, payment } = created.aggregate;
  await sandbox.pay(payment.serviceToken!, { pan: '4392963203551251' });
  await instance.inquire(token);
  return token;
}
const payOut = (orderNumber: string, amount: number) => {
  const { request, ...rest } = payoutFor(orderNumber);
  return instance.payOut({ ...rest, caller: shop, request: { ...request, amount } });
};
const settle = () => sandbox.advanceClock(24 * 60 * 60_000 + 1);
function answered<Aggregate>(result: { kind: string; aggregate?: Aggregate }): Aggregate {
  if (result.aggregate === undefined) throw new Error(result.kind);
  return result.aggregate;
}
const phaseOf = (result: CreatePayoutResult) => answered(result).payout.phase;
async function phaseAfterInquiry(result: CreatePayoutResult) {
  const { token } = answered(result);
  await instance.inquire(token);
  return (await instance.payouts.load(token))?.payout.phase;
}
const refundOf = (result: RefundPaymentResult) => answered(result).refund.state;
const chargesOf = async () =>
  (await sandbox.ledger()).payments.flatMap(({ status, orderNumber }) =>
    status === 'approved' ? [orderNumber] : [],
  );
async function paidWith200Left(): Promise<string> {
  const token = await paid('order-1', 500);
  await settle();
  await payOut('payout-1', 300);
  return token;
}
const paidOut = async () =>
  ((await sandbox.call('GET', '/sandbox/ledger')).body['payouts'] as { amount: number; status: string }[])
    .filter(({ status }) => status === 'approved')
    .reduce((sum, { amount }) => sum + amount, 0);

// 500 were there and went out; the second delivery was answered `balance_less_than_amount`. The payout counted as failed, its
// amount was free again, and the next payout of 500 took another team's money.
it('a payout of all that is there is approved, and its amount is not free for another one', async () => {
  await paid('order-1', 500);
  await settle();
  twice = true;
  const first = await payOut('payout-1', 500);
  twice = false;
  expect(phaseOf(first)).toBe('unresolved');
  expect(await phaseAfterInquiry(first)).toBe('approved');
  await paid('order-2', 500, { ...shop, team: 'others' });
  await settle();
  expect(await payOut('payout-2', 500)).toMatchObject({ refusal: { code: 'payout_exceeds_position' } });
  expect(await paidOut()).toBe(500);
});

it('a payout that was really refused for want of money has failed at once', async () => {
  // Not settled yet: nothing is available.
  await paid('order-1', 500);
  expect(phaseOf(await payOut('payout-1', 500))).toBe('failed');
});

// Without an inquiry that answers, the refusal proves nothing.
it('a payout of which no inquiry can be made is unresolved', async () => {
  await paid('order-1', 500);
  await settle();
  twice = true;
  await sandbox.setFaults({ operation: 'list', fault: 'error_before', times: 1 });
  const first = await payOut('payout-1', 500);
  expect(phaseOf(first)).toBe('unresolved');
  expect(await phaseAfterInquiry(first)).toBe('approved');
});

// The card was charged; the second delivery met HTTP 429, which says that nothing was done. The gateway itself made another
// attempt, and the card was charged twice.
it('a charge whose second delivery meets the rate limit is not made once more', async () => {
  twice = true;
  const { token } = answered(await instance.create(teaFor('order-1', 500, { card })));
  expect(await chargesOf()).toEqual([`${token}.1`]);
});

it('a charge that met the rate limit itself is made once more', async () => {
  await sandbox.setFaults({ operation: 'create', fault: 'rate_limited', times: 1 });
  const { token } = answered(await instance.create(teaFor('order-1', 500, { card })));
  expect(await chargesOf()).toEqual([`${token}.2`]);
});

// A service whose limit is reached refuses the inquiry, too.
it('an inquiry that meets the rate limit is made again', async () => {
  await sandbox.setFaults(
    { operation: 'create', fault: 'rate_limited', times: 1 },
    { operation: 'list', fault: 'rate_limited', times: 2 },
  );
  const { token } = answered(await instance.create(teaFor('order-1', 500, { card })));
  expect(await chargesOf()).toEqual([`${token}.2`]);
});

// 200 of 200 went back; the second delivery was answered `no_money_available_on_refund`. The refund counted as declined, and
// whoever asked again gave back 400.
it('a refund of all that is there is approved', async () => {
  const token = await paidWith200Left();
  twice = true;
  expect(refundOf(await instance.refund(token, 'a', 200, shop))).toBe('approved');
  const payment = (await instance.payments.load(token))!.payment;
  const shown = await sandbox.retrieve(payment.serviceToken!);
  expect([payment.refundedAmount, shown.refundedAmount]).toEqual([200, 200]);
});

it('a refund that was really refused for want of money is declined at once', async () => {
  const token = await paidWith200Left();
  expect(refundOf(await instance.refund(token, 'a', 300, shop))).toBe('declined');
});
