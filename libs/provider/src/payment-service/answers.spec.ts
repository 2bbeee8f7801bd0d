/** The result of each reader for an answer of HTTP 200 with `success: true`, and the answers that it rejects. */
import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  readBalance,
  readCreation,
  readDisputes,
  readHoldEnd,
  readPageOfPayments,
  readPageOfPayouts,
  readPayment,
  readPayments,
  readPayout,
  readPayoutCreation,
  readPayouts,
  readRefund,
} from './answers.ts';
import { readCallback, redactCallback } from './callback.ts';
import { classify, type AnswerReader } from './classify.ts';

const token = 'a3f0'.repeat(8);
const otherToken = 'b'.repeat(32);
const secret = 'rec_0123456789abcdef';
const payment = { token, status: 'approved', amount: 100, currency: 'EUR' };
const refund = { token: 'refund-1', amount: 40, currency: 'EUR', status: 'pending' };
const payout = { token: 'payout-1', amount: 900, currency: 'EUR', orderNumber: 'mine', status: 'pending' };
const wallet = { currency: 'EUR', available: 5, hold: 7 };
const dispute = { id: 'd-1', amount: 5, currency: 'EUR', status: 'pending' };
const days = { from: '2026-11-01', to: '2026-11-02', page: 1 };
/** The values no service should write, and which are not ours to correct. */
const oddAmounts = [-1, 0, 0.5, 2 ** 60];

const read = (reader: AnswerReader<unknown>, fields: object) =>
  classify(
    { kind: 'answered', statusCode: 200, body: Buffer.from(JSON.stringify({ success: true, ...fields })) },
    reader,
    [secret],
  );
const accepted = (answer: unknown) => ({ kind: 'accepted', answer });
const listed = (orderNumber?: string | null) => ({ ...payment, orderNumber });
const listedOn = (createdAt: string | null) => ({ ...payment, createdAt });

/** The reader, the fields next to `success`, and the result. */
const readable: [string, AnswerReader<unknown>, object, unknown][] = [
  [
    'a creation with the status of its payment',
    readCreation,
    { token, payment },
    { success: true, token, payment },
  ],
  ['a payment', readPayment(token), { payment }, payment],
  ['a capture without a payment', readHoldEnd(token), {}, undefined],
  ['a capture whose payment is null', readHoldEnd(token), { payment: null }, undefined],
  ['a capture that names the payment', readHoldEnd(token), { token }, undefined],
  [
    'a refund that names its payment',
    readRefund(token),
    { token: 'refund-1', refund, payment: { token } },
    { success: true, token: 'refund-1', refund, payment: { token } },
  ],
  [
    'a payout without its order number',
    readPayoutCreation('mine'),
    { payout: { ...payout, orderNumber: undefined } },
    { success: true, payout: { ...payout, orderNumber: undefined } },
  ],
  ...['payout', 'payouts', 'Payout', undefined].map((operationType): (typeof readable)[number] => [
    `a payout marked ${operationType}`,
    readPayout('payout-1'),
    { payment: { ...payout, operationType } },
    { ...payout, operationType },
  ]),
  ...([{}, { totalCount: 0 }, { totalCount: null }] as const).flatMap((count): typeof readable => [
    [`no payment (${JSON.stringify(count)})`, readPayments('mine'), { payments: [], ...count }, []],
    [`no payout (${JSON.stringify(count)})`, readPayouts('mine'), { payments: [], ...count }, []],
  ]),
  [
    'only payments of that order number',
    readPayments('mine'),
    { payments: [listed('other'), listed('mine')], totalCount: 900 },
    [listed('mine')],
  ],
  [
    'only payouts among other operations',
    readPayouts('mine'),
    { payments: [{ ...payout, operationType: 'pay' }, payout] },
    [payout],
  ],
  ['a page without a total', readPageOfPayments(days), { payments: [payment] }, { found: [payment] }],
  [
    'a page with a payment made while the service counted',
    readPageOfPayments(days),
    { payments: [payment], totalCount: 0 },
    { found: [payment], total: 0 },
  ],
  ['a balance', readBalance('EUR'), { wallet }, wallet],
  ['no dispute', readDisputes, { disputes: [] }, { found: [], unreadable: 0 }],
  [
    'disputes with codes and tokens as numbers',
    readDisputes,
    { disputes: [{ ...dispute, reasonCode: 4853, token: 17 }] },
    { found: [{ ...dispute, reasonCode: '4853', token: '17' }], unreadable: 0 },
  ],
];

it.each(readable)('reads %s', (_what, reader, fields, answer) => {
  expect(read(reader, fields)).toEqual(accepted(JSON.parse(JSON.stringify({ answer }))['answer']));
});

it.each<[string, AnswerReader<unknown>, (odd: object) => object]>([
  ['a payment', readPayment(token), (odd) => ({ payment: { ...payment, ...odd } })],
  ['a capture', readHoldEnd(token), (odd) => ({ payment: { ...payment, ...odd } })],
  ['a refund', readRefund(token), (odd) => ({ token: 'refund-1', refund: { ...refund, ...odd } })],
  ['a payout', readPayoutCreation('mine'), (odd) => ({ payout: { ...payout, ...odd } })],
])('hands on any amount, status and further field of %s', (_what, reader, fieldsOf) => {
  for (const amount of oddAmounts) {
    const odd = { amount, status: 'on_the_moon', extra: { a: 1 } };
    const outcome = read(reader, fieldsOf(odd));
    expect(outcome.kind).toBe('accepted');
    expect(JSON.stringify(outcome)).toContain(JSON.stringify(odd).slice(1, 30).split(',')[0]);
  }
});

/** The reason, the reader, and the fields next to `success` that cause it. */
const unknown: [reason: string, AnswerReader<unknown>, ...fields: object[]][] = [
  ['success without a readable token and payment', readCreation, {}, { token: '' }],
  ['success with a secret as token', readCreation, { token: secret }],
  ['success without a readable payment', readPayment(token), {}, { payment: {} }, { payment: [payment] }],
  ['answer about another payment', readPayment(token), { payment: { ...payment, token: otherToken } }],
  [
    'answer about another payment',
    readHoldEnd(token),
    { payment: { ...payment, token: otherToken } },
    { token: otherToken },
    { token: otherToken, payment },
  ],
  [
    'success without a readable payment',
    readHoldEnd(token),
    ...[{}, [], 'approved', true, { token }, { ...payment, amount: '100' }].map((shown) => ({
      payment: shown,
    })),
  ],
  [
    'success without a readable refund',
    readRefund(token),
    {},
    { token: 'refund-1' },
    { refund },
    { token: '', refund },
    { token: 'refund-1', refund: { ...refund, token: null } },
    { token: 'refund-1', refund: { ...refund, status: undefined } },
    { token: 'refund-1', refund: [refund] },
  ],
  [
    'success without a token of the refund',
    readRefund(token),
    { token: 'refund-2', refund },
    { token, refund },
    { token, refund: { ...refund, token } },
  ],
  [
    'success with a secret as token',
    readRefund(token),
    { token: secret, refund: { ...refund, token: secret } },
  ],
  [
    'answer about another payment',
    readRefund(token),
    { token: 'refund-1', refund, payment: { token: otherToken } },
  ],
  [
    'answer about another payout',
    readPayoutCreation('mine'),
    ...[{ orderNumber: 'other' }, { orderNumber: '' }, { operationType: 'refund' }].map((other) => ({
      payout: { ...payout, ...other },
    })),
  ],
  [
    'success without a readable payout',
    readPayoutCreation('mine'),
    {},
    { token: 'payout-1' },
    { payout: { ...payout, token: undefined } },
    { payout: { ...payout, token: '' } },
    { payout: { ...payout, status: 1 } },
    { payout: [payout] },
  ],
  [
    'success with a secret as token',
    readPayoutCreation('mine'),
    { payout: { ...payout, token: `to-${secret}` } },
  ],
  [
    'answer about another payout',
    readPayout('payout-1'),
    ...[{ token }, { operationType: 'pay' }, { operationType: '' }].map((other) => ({
      payment: { ...payout, ...other },
    })),
  ],
  [
    'success without a readable payout',
    readPayout('payout-1'),
    ...[undefined, {}, [payout], { token: 'payout-1' }].map((shown) => ({ payment: shown })),
  ],
  ['list of other order numbers', readPayouts('mine'), { payments: [{ ...payout, operationType: 'pay' }] }],
  ...(
    [
      ['payments', readPayments('mine')],
      ['payouts', readPayouts('mine')],
    ] as const
  ).flatMap(([name, reader]): typeof unknown => [
    ['list without all its rows', reader, { payments: [], totalCount: 1 }],
    [
      'list of other order numbers',
      reader,
      ...[listed('other'), listed(null), listed(), listed('Mine')].map((other) => ({ payments: [other] })),
    ],
    [
      `success without readable ${name}`,
      reader,
      ...[undefined, {}, [listed('mine'), { token }], [null]].map((payments) => ({ payments })),
    ],
  ]),
  [
    'list of another page',
    readPageOfPayments(days),
    { payments: [payment], page: 2 },
    { payments: [payment], perPage: 100 },
    { payments: Array.from({ length: 501 }, () => payment) },
  ],
  [
    'list of other days',
    readPageOfPayments(days),
    { payments: [listedOn('2026-11-03T00:00:00Z')] },
    { payments: [listedOn('2026-10-31T23:59:59.999Z')] },
  ],
  [
    'list of other operations',
    readPageOfPayments(days),
    { payments: [payment, { ...payout, operationType: 'payout' }] },
  ],
  ['list of other operations', readPageOfPayouts(days), { payments: [{ ...payment, operationType: 'pay' }] }],
  ['list without all its rows', readPageOfPayments(days), { payments: [payment], totalCount: 2 }],
  [
    'answer about another currency',
    readBalance('EUR'),
    ...['USD', 'eur', ''].map((currency) => ({ wallet: { ...wallet, currency } })),
  ],
  [
    'success without a readable balance',
    readBalance('EUR'),
    {},
    { wallet: [wallet] },
    wallet,
    { wallet: { ...wallet, hold: undefined } },
    { wallet: { ...wallet, available: '5' } },
  ],
  [
    'success without readable disputes',
    readDisputes,
    ...[undefined, {}, [null], [{ id: 'd-1' }]].map((disputes) => ({ disputes })),
  ],
];

it.each(unknown)('is unknown: %s', (reason, reader, ...bodies) => {
  for (const fields of bodies)
    expect(read(reader, fields), JSON.stringify(fields).slice(0, 200)).toEqual({ kind: 'unknown', reason });
});

describe('rows of a list', () => {
  it('of a page may hide their time', () => {
    for (const createdAt of [null, 'yesterday', ''])
      expect(read(readPageOfPayments(days), { payments: [listedOn(createdAt)] }).kind).toBe('accepted');
  });

  // One unreadable row hid all disputes of its account, for as long as it was among the newest hundred.
  it('of disputes are read without those that have no id, amount or currency', () => {
    const unreadable = [
      ...[undefined, null, '', 2 ** 53, 1.5, {}].map((id) => ({ id })),
      ...[{ amount: '100' }, { amount: null }, { currency: undefined }],
    ];
    for (const fields of unreadable)
      expect(read(readDisputes, { disputes: [{ ...dispute, ...fields }, dispute] })).toEqual(
        accepted({ found: [dispute], unreadable: 1 }),
      );
  });
});

describe('any answer', () => {
  const texts = ['approved', 'EUR', '1500', '2030-01-01T00:00:00Z', '', '__proto__', '\ud800'];
  const odd = fc.oneof(
    { arbitrary: fc.constantFrom(token, ...texts), weight: 2 },
    fc.double(),
    fc.jsonValue({ maxDepth: 2 }),
  );
  const fields = ['token', 'status', 'amount', 'currency', 'orderNumber', 'callbackUrl', 'createdAt'];
  const sums = ['heldAmount', 'refundedAmount', 'available', 'hold', '__proto__'];
  const one = fc.dictionary(fc.constantFrom(...fields, ...sums), odd);
  const parts = ['payment', 'payments', 'payout', 'refund', 'disputes', 'wallet', 'token'];
  const body = fc
    .dictionary(
      fc.constantFrom(...parts, 'totalCount', 'page', 'perPage'),
      fc.oneof(one, fc.array(one, { maxLength: 3 }), odd),
    )
    .map((given) => ({ success: true, ...given }));

  it('is read or rejected by every reader', () => {
    const readers = [...readable, ...unknown].map(([, reader]) => reader);
    fc.assert(
      fc.property(fc.oneof(body, fc.jsonValue()), (given) => {
        for (const reader of readers) {
          const reading = reader(given);
          expect('answer' in reading || reading.fault !== '').toBe(true);
        }
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  it('that is a callback is read, and its stored part is bounded', () => {
    const names = fc.constantFrom(...fields, 'type', 'recurringToken');
    fc.assert(
      fc.property(fc.dictionary(names, odd), (given) => {
        const raw = new TextEncoder().encode(JSON.stringify(given));
        expect(redactCallback(raw, given).body.length).toBeLessThan(6 * 6 * 300);
        expect(['payment', 'payout', 'refund', 'dispute', 'unknown']).toContain(readCallback(given).about);
      }),
      { numRuns: propertyRuns(1_000) },
    );
  });
});
