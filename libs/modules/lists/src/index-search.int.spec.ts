/** Searching the index by the beginning of a token or order number. */
import { disputeKind, paymentKind, payoutKind } from '@tollgate/views';
import { disputeOpened, happening, payoutRequested, requested } from '@tollgate/views/testing';
import { expect, test } from 'vitest';
import { searchIndex } from './index-search.ts';
import { givenExplainedFile, givenFile, viewOf } from './testing/open-index-file.ts';

const shop = { environment: 'sandbox', team: 'shop' } as const;
const games = { ...shop, team: 'games' };
const payment = (token: string, orderNumber: string, team = 'shop') =>
  viewOf(paymentKind, token, [requested({ orderNumber, team })]);
const views = [
  ...[payment('pay_a1', '4711'), payment('pay_a2', '4711-b'), payment('pay_b1', '4712', 'games')],
  ...[payment('pay_c1', '%'), payment('pay_d1', '# AB 12'), payment('pay_d2', 'ab12')],
  viewOf(paymentKind, 'pay_r3', [
    requested({ orderNumber: 'r3' }),
    happening.accepted,
    happening.approved,
    happening.refunding,
  ]),
  viewOf(payoutKind, 'po_a1', [payoutRequested({ orderNumber: '4711' })]),
  viewOf(disputeKind, 'dsp_1', [disputeOpened({ team: 'shop', paymentToken: 'pay_a1' })]),
];

test.each<[text: string, tokens: string[]]>([
  ['pay_a', ['pay_a1', 'pay_a2']],
  ['pay_a2', ['pay_a2']],
  ['pay…2', ['pay_a2', 'pay_d2']],
  ['pay_...1', ['pay_a1', 'pay_b1', 'pay_c1', 'pay_d1']],
  ['po_', ['po_a1']],
  ['dsp', ['dsp_1']],
  ['ref_', ['pay_r3~ref_1']],
  ['D-', ['dsp_1']],
  ['4711', ['pay_a1', 'po_a1', 'pay_a2']],
  [' #4711 ', ['pay_a1', 'po_a1', 'pay_a2']],
  ['471', ['pay_a1', 'pay_a2', 'pay_b1', 'po_a1']],
  ['Ab 1', ['pay_d1', 'pay_d2']],
  ['%', ['pay_c1']],
  ['# ', []],
  ['4713', []],
])('%j finds %j', (text, tokens) => {
  const found = searchIndex(givenFile(views), [shop, games], { text, limit: 10 });
  expect(found.map(({ token }) => token)).toEqual(tokens);
});

test('whole numbers and tokens are first, and named', () => {
  const found = (text: string, owners = [shop, games], limit = 10) =>
    searchIndex(givenFile(views), owners, { text, limit });
  expect(found('4711').map(({ isWhole }) => isWhole)).toEqual([true, true, false]);
  expect(found('pay_a1')).toEqual([{ kind: 'payment', token: 'pay_a1', why: 'token', isWhole: true }]);
  expect(found('AB#12')).toMatchObject([{ isWhole: true, why: 'order-number' }, { isWhole: true }]);
  expect(found('4711', [shop], 1)).toHaveLength(1);
  expect(found('4711', [games])).toEqual([]);
});

test('order numbers are read off one index', async () => {
  const { file, steps } = await givenExplainedFile(views);
  searchIndex(file, [shop], { text: '47', limit: 10 });
  expect(steps.join('\n')).toContain('SEARCH refunds USING INDEX refunds_by_token');
  expect(steps.filter((step) => step.includes('by_order_number'))).toEqual(
    ['payments', 'payouts'].map((table) => expect.stringContaining(`SEARCH ${table} USING`)),
  );
  expect(steps.join('\n')).not.toContain('SCAN p');
});
