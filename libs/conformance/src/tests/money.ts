/** Section 4: refunds, payouts, balance and disputes. */
import {
  describe,
  expectDecidedFailure,
  expectFailure,
  expectFailureOf,
  expectField,
  expectSuccess,
  findField,
  integerField,
  listIn,
  textField,
  type Answer,
  type Json,
} from '../answers.ts';
import { check, section, balanceQuery, payoutBody, refundNamesPayment } from '../conformance-test.ts';
import { poll } from '../clock.ts';
import type { Peer } from '../peer.ts';
import { untilListed } from './payments.ts';

const { specified, decided } = section(4);

const payoutTerms = (peer: Peer) => ({
  amount: 300,
  currency: peer.currency,
  orderNumber: peer.newName(),
  destination: { bankAccount: { bankName: 'Example Bank', account: 'DE89370400440532013000' } },
});

/** Starts a payout, once there is money for it. */
export function startPayout(peer: Peer, fields: Json = {}): Promise<Answer> {
  const body = { ...payoutTerms(peer), ...fields };
  return peer.withMoney(() => peer.call('POST', '/api/v1/payouts', { body }));
}

const refundOf = (peer: Peer, body: Json) => peer.call('POST', '/api/v1/refunds', { body });
const balanceIn = (peer: Peer, currency: string) => peer.call('GET', `/api/v1/balance?currency=${currency}`);

/** The held amount: the specification names it only in words. */
function heldIn(answer: Answer): number {
  const name = ['hold', 'held', 'heldAmount'].find((each) => findField(answer.body, each) !== undefined);
  check(name !== undefined, `The balance should have a held amount; ${describe(answer)}`);
  return integerField(answer, name);
}

const totalIn = async (peer: Peer, currency: string): Promise<number> => {
  const answer = await balanceIn(peer, currency);
  expectSuccess(answer);
  return integerField(answer, 'available') + heldIn(answer);
};

const refundTests = [
  specified(
    'POST /api/v1/refunds refunds a payment in full when no amount is passed',
    refundNamesPayment,
    async (peer) => {
      const payment = await peer.createSettled('approved');
      expectSuccess(await peer.refund(payment));
      await peer.untilStatus(payment, 'refunded');
    },
  ),
  specified(
    'POST /api/v1/refunds refunds partially when an amount is passed',
    `${refundNamesPayment}; a payment refunded in part stays approved`,
    async (peer) => {
      const payment = await peer.createSettled('approved');
      const answer = await peer.refund(payment, 250);
      expectSuccess(answer);
      expectField(answer, 'amount', 250);
      await peer.untilStatus(payment, 'approved');
    },
  ),
  specified(
    'POST /api/v1/refunds: the amount is an integer, anything else is refused',
    refundNamesPayment,
    async (peer) => {
      const payment = await peer.createSettled('approved');
      for (const amount of [12.5, '250', true, [250]])
        expectFailureOf('invalid_request_error', await refundOf(peer, { token: payment.token, amount }));
      expectSuccess(await peer.refund(payment, 250));
    },
  ),
  specified(
    'POST /api/v1/refunds fails for a payment that does not exist',
    refundNamesPayment,
    async (peer) => {
      expectFailure(await refundOf(peer, { token: peer.newName() }));
      expectSuccess(await peer.refund(await peer.createSettled('approved')));
    },
  ),
  decided('POST /api/v1/refunds needs the token', async (peer) => {
    expectFailureOf('invalid_request_error', await refundOf(peer, { amount: 250 }));
    expectSuccess(await peer.refund(await peer.createSettled('approved')));
  }),
  decided(
    'POST /api/v1/refunds: partial refunds add up, and the last one makes the payment refunded',
    async (peer) => {
      const payment = await peer.createSettled('approved');
      expectSuccess(await peer.refund(payment, 250));
      await untilRefunded(peer, payment.token, 250);
      expectSuccess(await peer.refund(payment, 1000));
      await peer.untilStatus(payment, 'refunded');
    },
  ),
  decided('POST /api/v1/refunds never refunds more than was approved', async (peer) => {
    const payment = await peer.createSettled('approved');
    expectSuccess(await peer.refund(payment, 1000));
    expectDecidedFailure(await peer.refund(payment, 251), 409, 'refund_exceeds_amount');
  }),
];

async function untilRefunded(peer: Peer, token: string, amount: number): Promise<void> {
  const found = await poll(peer.clock, peer.patienceMs, async () => {
    const refunded = findField((await peer.retrieve(token)).body, 'refundedAmount');
    return refunded === amount ? true : undefined;
  });
  check(found === true, `refundedAmount should become ${amount}; ${describe(await peer.retrieve(token))}`);
}

const payoutTests = [
  specified('POST /api/v1/payouts starts a payout', payoutBody, async (peer) => {
    expectSuccess(await startPayout(peer));
  }),
  specified(
    'POST /api/v1/payouts: the amount is an integer, anything else is refused',
    payoutBody,
    async (peer) => {
      for (const amount of [12.5, '300', true]) {
        const body = { ...payoutTerms(peer), amount };
        expectFailureOf('invalid_request_error', await peer.call('POST', '/api/v1/payouts', { body }));
      }
      expectSuccess(await startPayout(peer));
    },
  ),
  decided('POST /api/v1/payouts answers amount, currency, orderNumber and status', async (peer) => {
    const orderNumber = peer.newName();
    const answer = await startPayout(peer, { orderNumber });
    expectSuccess(answer);
    for (const [field, value] of Object.entries({ amount: 300, currency: peer.currency, orderNumber }))
      expectField(answer, field, value);
    const status = textField(answer, 'status');
    check(
      ['pending', 'approved', 'declined'].includes(status),
      `status should not be ${status}; ${describe(answer)}`,
    );
  }),
  decided('a payout is retrieved by its token, and listed where operationType is payouts', async (peer) => {
    const orderNumber = peer.newName();
    const answer = await startPayout(peer, { orderNumber });
    expectSuccess(answer);
    const token = textField(answer, 'token');
    expectField(await peer.retrieve(token), 'token', token);
    const path = `/api/v1/payments?operationType=payouts&orderNumber=${orderNumber}`;
    const isFound = (payouts: Json[]) => payouts.some((payout) => payout['token'] === token);
    await untilListed(peer, path, isFound, `Payout ${token} should be listed`);
  }),
  decided('POST /api/v1/payouts is refused where the balance is too small', async (peer) => {
    const body = { ...payoutTerms(peer), amount: 999_999_999_999 };
    const answer = await peer.call('POST', '/api/v1/payouts', { body });
    expectDecidedFailure(answer, 409, 'balance_less_than_amount');
  }),
];

const balanceTests = [
  specified(
    'GET /api/v1/balance reads the available and the held amount for a currency, both integers',
    `${balanceQuery}; the amounts are named available, and hold or held`,
    async (peer) => {
      const answer = await balanceIn(peer, peer.currency);
      expectSuccess(answer);
      integerField(answer, 'available');
      heldIn(answer);
    },
  ),
  specified(
    'GET /api/v1/balance is kept for each currency separately',
    `${balanceQuery}; an approved payment of 1250 adds 1250 to the two amounts`,
    async (peer) => {
      const other = peer.currency === 'USD' ? 'EUR' : 'USD';
      const before = { asked: await totalIn(peer, peer.currency), other: await totalIn(peer, other) };
      await peer.createSettled('approved');
      const grown = await poll(peer.clock, peer.patienceMs, async () =>
        (await totalIn(peer, peer.currency)) === before.asked + 1250 ? true : undefined,
      );
      check(grown === true, `The balance in ${peer.currency} should grow by 1250.`);
      check((await totalIn(peer, other)) === before.other, `The balance in ${other} should stay.`);
    },
  ),
  decided('GET /api/v1/balance answers wallet {currency, available, hold}', async (peer) => {
    const answer = await balanceIn(peer, peer.currency);
    expectField(answer, 'currency', peer.currency);
    for (const field of ['available', 'hold']) integerField(answer, field);
  }),
  decided('GET /api/v1/balance refuses a currency that is none', async (peer) => {
    expectFailureOf('invalid_request_error', await balanceIn(peer, 'EURO'));
    expectSuccess(await balanceIn(peer, peer.currency));
  }),
];

const disputeTests = [
  specified('GET /api/v1/disputes/list reads a list of dispute records', async (peer) => {
    listIn(await peer.call('GET', '/api/v1/disputes/list'));
  }),
  specified(
    'GET /api/v1/disputes/list holds the most recent records of the account',
    'a dispute has an id, an amount and, in most deployments, the token of its payment',
    async (peer) => {
      const before = listIn(await peer.call('GET', '/api/v1/disputes/list')).map(({ id }) => id);
      await peer.sandbox().dispute(await peer.createSettled('approved', { amount: 1777 }));
      const isNew = (entries: Json[]) =>
        entries.some(({ id, amount }) => amount === 1777 && !before.includes(id));
      await untilListed(peer, '/api/v1/disputes/list', isNew, 'The new dispute should be listed');
    },
  ),
  decided('GET /api/v1/disputes/list: the newest comes first, with its fields', async (peer) => {
    await peer.sandbox().dispute(await peer.createSettled('approved', { amount: 1778 }));
    const isFirst = ([first]: Json[]) => first?.['amount'] === 1778;
    const path = '/api/v1/disputes/list';
    const answer = await untilListed(peer, path, isFirst, 'The new dispute should be the first');
    const fields = ['id', 'currency', 'status', 'type', 'reasonCode', 'createdAt', 'updatedAt'];
    for (const field of fields)
      check(
        findField(listIn(answer)[0], field) !== undefined,
        `A dispute should have ${field}; ${describe(answer)}`,
      );
  }),
];

export const moneyTests = [...refundTests, ...payoutTests, ...balanceTests, ...disputeTests];
