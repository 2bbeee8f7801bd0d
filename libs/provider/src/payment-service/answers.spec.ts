import { describe, expect, it } from 'vitest';
import {
  readBalance,
  readCreation,
  readDisputes,
  readHoldEnd,
  readPageOfPayments,
  readPayment,
  readPayments,
  readPayout,
  readPayoutCreation,
  readPayouts,
  readRefund,
} from './answers.ts';
import { classify, type AnswerReader } from './classify.ts';

const token = 'a3f0'.repeat(8);
const otherToken = 'b'.repeat(32);

/** Reads an answer of HTTP 200 whose body has `success: true` beside the given fields. */
const read = <Answer>(reader: AnswerReader<Answer>, fields: object, secrets: string[] = []) =>
  classify(
    {
      kind: 'answered',
      statusCode: 200,
      body: new TextEncoder().encode(JSON.stringify({ success: true, ...fields })),
    },
    reader,
    secrets,
  );
const accepted = (answer: unknown) => ({ kind: 'accepted', answer });
const unknown = (reason: string) => ({ kind: 'unknown', reason });

const payment = { token, status: 'approved', amount: 100, currency: 'EUR' };
/** Amounts as no service should write them. Whether they are the right ones is not ours to say. */
const oddAmounts = [-1, 0, 0.5, 2 ** 60];

describe('a creation', () => {
  it('hands on the status of the payment', () => {
    const answer = { token, payment: { status: 'declined', amount: 450, currency: 'EUR' } };
    expect(read(readCreation, answer)).toMatchObject(accepted(answer));
  });

  it('whose token repeats a secret of the request has none that could be kept', () => {
    const secret = 'rec_0123456789abcdef';
    expect(read(readCreation, { token: secret }, [secret])).toEqual(
      unknown('success with a secret as token'),
    );
  });
});

describe('a retrieval', () => {
  it('gives the payment, with any status and any further field', () => {
    expect(read(readPayment(token), { payment })).toEqual(accepted(payment));
    const odd = { ...payment, status: 'on_the_moon', extra: { a: 1 }, orderNumber: null };
    expect(read(readPayment(token), { payment: odd })).toMatchObject({ answer: { status: 'on_the_moon' } });
  });

  it('is unknown where it is about another payment', () => {
    expect(read(readPayment(token), { payment: { ...payment, token: otherToken } })).toEqual(
      unknown('answer about another payment'),
    );
  });

  it('is unknown without a payment', () => {
    for (const fields of [{}, { payment: {} }, { payment: [payment] }])
      expect(read(readPayment(token), fields)).toEqual(unknown('success without a readable payment'));
  });
});

describe('the end of a hold', () => {
  const end = (fields: object) => read(readHoldEnd(token), fields);

  it('gives the payment, whatever its status and amount', () => {
    for (const amount of oddAmounts) {
      const odd = { ...payment, amount, status: 'on_the_moon' };
      expect(end({ payment: odd })).toEqual(accepted(odd));
    }
  });

  it('is an acceptance without a payment, too', () => {
    for (const fields of [{}, { payment: null }, { token }]) expect(end(fields)).toEqual(accepted(undefined));
  });

  it('is unknown where anything in it names another payment', () => {
    for (const fields of [
      { payment: { ...payment, token: otherToken } },
      { token: otherToken },
      { token: otherToken, payment },
    ])
      expect(end(fields)).toEqual(unknown('answer about another payment'));
  });

  it('is unknown where its payment is unreadable', () => {
    for (const unreadable of [{}, [], 'approved', true, { token }, { ...payment, amount: '100' }])
      expect(end({ payment: unreadable })).toEqual(unknown('success without a readable payment'));
  });
});

describe('a refund', () => {
  const refund = { token: 'refund-1', amount: 40, currency: 'EUR', status: 'pending' };
  const refunded = (fields: object) => read(readRefund(token), fields);

  it('has a token, and any amount and status', () => {
    for (const amount of oddAmounts) {
      const odd = { ...refund, amount, status: 'on_the_moon', extra: 1 };
      expect(refunded({ token: 'refund-1', refund: odd })).toEqual(
        accepted({ success: true, token: 'refund-1', refund: odd }),
      );
    }
  });

  it.each([
    [{}],
    [{ token: 'refund-1' }],
    [{ refund }],
    [{ token: '', refund }],
    [{ token: 'refund-1', refund: { ...refund, token: null } }],
    [{ token: 'refund-1', refund: { ...refund, status: undefined } }],
    [{ token: 'refund-1', refund: [refund] }],
  ])('is none in %j', (fields) => {
    expect(refunded(fields)).toEqual(unknown('success without a readable refund'));
  });

  it('needs one token, and one of its own', () => {
    for (const fields of [
      { token: 'refund-2', refund },
      { token, refund },
      { token, refund: { ...refund, token } },
    ])
      expect(refunded(fields)).toEqual(unknown('success without a token of the refund'));
  });

  it('whose token repeats a secret has none that could be kept', () => {
    const secret = 'sk_sandbox_0123456789';
    const named = { token: secret, refund: { ...refund, token: secret } };
    expect(read(readRefund(token), named, [secret])).toEqual(unknown('success with a secret as token'));
  });

  it('of another payment is unknown', () => {
    const named = (paymentToken: string) => ({ token: 'refund-1', refund, payment: { token: paymentToken } });
    expect(refunded(named(otherToken))).toEqual(unknown('answer about another payment'));
    expect(refunded(named(token)).kind).toBe('accepted');
  });
});

const payout = { token: 'payout-1', amount: 900, currency: 'EUR', orderNumber: 'mine', status: 'pending' };

describe('the answer of a payout', () => {
  const paidOut = (fields: object, secrets: string[] = []) =>
    read(readPayoutCreation('mine'), fields, secrets);

  it('has a token, any amount and status, and perhaps the order number', () => {
    for (const amount of oddAmounts)
      for (const orderNumber of ['mine', undefined]) {
        const odd = { ...payout, amount, orderNumber, currency: 'XTS', status: 'on_the_moon' };
        expect(paidOut({ payout: odd })).toEqual(accepted({ success: true, payout: odd }));
      }
    expect(paidOut({ payout: { ...payout, orderNumber: null } }).kind).toBe('accepted');
  });

  it('is unknown with another order number, or about what is no payout', () => {
    for (const other of [{ orderNumber: 'other' }, { orderNumber: '' }, { operationType: 'refund' }])
      expect(paidOut({ payout: { ...payout, ...other } })).toEqual(unknown('answer about another payout'));
  });

  it.each([
    [{}],
    [{ token: 'payout-1' }],
    [{ payout: { ...payout, token: undefined } }],
    [{ payout: { ...payout, token: '' } }],
    [{ payout: { ...payout, status: 1 } }],
    [{ payout: [payout] }],
  ])('is none in %j', (fields) => {
    expect(paidOut(fields)).toEqual(unknown('success without a readable payout'));
  });

  it('whose token repeats a secret of the request has none that could be kept', () => {
    const account = 'DE89370400440532013000';
    expect(paidOut({ payout: { ...payout, token: `to-${account}` } }, [account])).toEqual(
      unknown('success with a secret as token'),
    );
  });
});

describe('the retrieval of a payout', () => {
  const retrieve = (shown: unknown) => read(readPayout('payout-1'), { payment: shown });

  it('finds it as payment, marked as payout or not marked', () => {
    for (const operationType of ['payout', 'payouts', 'Payout', undefined]) {
      const shown = { ...payout, operationType };
      expect(retrieve(shown)).toEqual(accepted(shown));
    }
  });

  it('is unknown where it is about another one, or about what is no payout', () => {
    for (const other of [{ token }, { operationType: 'pay' }, { operationType: '' }])
      expect(retrieve({ ...payout, ...other })).toEqual(unknown('answer about another payout'));
  });

  it('is unknown without a payout', () => {
    for (const shown of [undefined, {}, [payout], { token: 'payout-1' }])
      expect(retrieve(shown)).toEqual(unknown('success without a readable payout'));
  });
});

/** Both lists by order number keep the same rules. */
const lists = {
  payments: (list: object, orderNumber = 'mine') => read(readPayments(orderNumber), list),
  payouts: (list: object, orderNumber = 'mine') => read(readPayouts(orderNumber), list),
};

describe.each(Object.entries(lists))('a list of %s by order number', (name, list) => {
  const listed = (orderNumber?: string | null) => ({ ...payment, orderNumber });

  it('that is empty proves that there is none', () => {
    for (const count of [{}, { totalCount: 0 }, { totalCount: null }])
      expect(list({ payments: [], ...count })).toEqual(accepted([]));
  });

  it('that is empty proves nothing where it counts rows that it does not show', () => {
    expect(list({ payments: [], totalCount: 1 })).toEqual(unknown('list without all its rows'));
  });

  it('gives only what has that order number', () => {
    expect(list({ payments: [listed('other'), listed('mine')] })).toEqual(accepted([listed('mine')]));
  });

  it('has found what it shows, however many rows it hides', () => {
    expect(list({ payments: [listed('mine')], totalCount: 900 })).toEqual(accepted([listed('mine')]));
  });

  it('does not prove that there is none where the service ignored the order number', () => {
    for (const others of [[listed('other')], [listed(null)], [listed()], [listed('Mine')]])
      expect(list({ payments: others, totalCount: 1 })).toEqual(unknown('list of other order numbers'));
  });

  it('is unknown where an entry is unreadable', () => {
    for (const payments of [undefined, {}, [listed('mine'), { token }], [null], [listed('mine'), null]])
      expect(list({ payments })).toEqual(unknown(`success without readable ${name}`));
  });
});

describe('a list of payouts', () => {
  const list = (...payments: object[]) => read(readPayouts('mine'), { payments });

  it('leaves out what is no payout', () => {
    expect(list({ ...payout, operationType: 'pay' }, payout)).toEqual(accepted([payout]));
  });

  it('does not prove that there is none where the service ignored that payouts were asked for', () => {
    expect(list({ ...payout, operationType: 'pay' })).toEqual(unknown('list of other order numbers'));
  });
});

describe('a page of payments', () => {
  const page = (list: object) =>
    read(readPageOfPayments({ from: '2026-11-01', to: '2026-11-01', page: 1 }), list);

  it('without a count is read as one without a total', () => {
    expect(page({ payments: [payment] })).toEqual(accepted({ found: [payment] }));
  });

  it('may hold what was made while the service counted', () => {
    expect(page({ payments: [payment], totalCount: 0 })).toEqual(accepted({ found: [payment], total: 0 }));
  });

  it('may hold rows whose time or kind does not show', () => {
    for (const createdAt of [null, 'yesterday', ''])
      expect(page({ payments: [{ ...payment, createdAt }] }).kind).toBe('accepted');
  });
});

describe('a balance', () => {
  const wallet = { currency: 'EUR', available: 5, hold: 7 };
  const balance = (fields: object) => read(readBalance('EUR'), fields);

  it('gives the amounts as they are', () => {
    for (const available of oddAmounts)
      expect(balance({ wallet: { ...wallet, available } })).toEqual(accepted({ ...wallet, available }));
  });

  it('of another currency is unknown', () => {
    for (const currency of ['USD', 'eur', ''])
      expect(balance({ wallet: { ...wallet, currency } })).toEqual(unknown('answer about another currency'));
  });

  it.each([
    [{}],
    [{ wallet: [wallet] }],
    [wallet],
    [{ wallet: { ...wallet, hold: undefined } }],
    [{ wallet: { ...wallet, available: '5' } }],
  ])('is none in %j', (fields) => {
    expect(balance(fields)).toEqual(unknown('success without a readable balance'));
  });
});

describe('disputes', () => {
  const dispute = { id: 'd-1', amount: 5, currency: 'EUR', status: 'pending' };
  const disputes = (...entries: unknown[]) => read(readDisputes, { disputes: entries });

  it('are given as they are, without the token of their payment too', () => {
    const entries = [dispute, { ...dispute, id: 17, token, status: 'on_the_moon' }];
    expect(disputes(...entries)).toEqual(accepted({ found: entries, unreadable: 0 }));
    expect(disputes()).toEqual(accepted({ found: [], unreadable: 0 }));
  });

  // One row that could not be read hid all disputes of its account, for as long as it was among the newest hundred.
  it('are read without those that have no id of their own, or no amount or currency that can be read', () => {
    const unreadable = [
      ...[undefined, null, '', 2 ** 53, 1.5, {}].map((id) => ({ id })),
      ...[{ amount: '100' }, { amount: null }, { currency: undefined }],
    ];
    for (const fields of unreadable)
      expect(disputes({ ...dispute, ...fields }, dispute)).toEqual(
        accepted({ found: [dispute], unreadable: 1 }),
      );
  });

  it('have codes and tokens as text, however they are written', () => {
    expect(disputes({ ...dispute, reasonCode: 4853, token: 17 })).toEqual(
      accepted({ found: [{ ...dispute, reasonCode: '4853', token: '17' }], unreadable: 0 }),
    );
  });

  it('are unknown where the list is unreadable', () => {
    for (const fields of [{}, { disputes: {} }, { disputes: [null] }, { disputes: [{ id: 'd-1' }] }])
      expect(read(readDisputes, fields)).toEqual(unknown('success without readable disputes'));
  });
});
