import { describe, expect, test } from 'vitest';
import { type PaymentEvent, type PaymentState, type PayoutEvent, evolve, evolvePayout } from '@tollgate/core';
import {
  entriesOf,
  entryKindOf,
  spendingOfPayment,
  spendingOfPayout,
  standingsOfPayment,
  standingsOfPayout,
  standingsOfTransfer,
  type JournalEntry,
  type Standing,
} from './ledger.ts';
import {
  payoutAfter,
  payoutApprovalRequested,
  payoutHistoryTo,
  payoutTerms,
} from '@tollgate/core/testing/payout-samples';
import { adopted, historyTo, refundSubmitted, sampleEvents } from '@tollgate/core/testing/samples';

const postings = (entries: readonly JournalEntry[]) =>
  entries.map((entry) =>
    Object.fromEntries(entry.postings.map(({ ledgerAccount, amount }) => [ledgerAccount, Number(amount)])),
  );

const sumOf = ({ postings: all }: JournalEntry): bigint => all.reduce((sum, { amount }) => sum + amount, 0n);

function journal<State, Event extends { type: string }>(
  history: readonly Event[],
  fold: (state: State | undefined, event: Event) => State,
  standingsOf: (state: State) => Standing[],
): [string, JournalEntry[]][] {
  let state: State | undefined;
  return history.flatMap((event) => {
    const before = state === undefined ? [] : standingsOf(state);
    state = fold(state, event);
    const entries = entriesOf(before, standingsOf(state));
    for (const entry of entries) expect(sumOf(entry)).toBe(0n);
    return entries.length === 0 ? [] : [[event.type, entries] as [string, JournalEntry[]]];
  });
}
const ofPayment = (history: readonly PaymentEvent[]) => journal(history, evolve, standingsOfPayment);
const ofPayout = (history: readonly PayoutEvent[]) => journal(history, evolvePayout, standingsOfPayout);

const refundApproved: PaymentEvent = { type: 'RefundApproved', data: { refundToken: 'refund-1' } };
const disputed = (what: 'Opened' | 'Won' | 'Lost', revision: number, amount = 400): PaymentEvent => ({
  type: `Dispute${what}`,
  data: { disputeToken: 'dsp_1', amount, revision },
});
const refundDeclined = sampleEvents.RefundDeclined;

describe('the journal of a payment', () => {
  test.each<[string, readonly PaymentEvent[], [string, object][]]>([
    ['has nothing before money arrives', historyTo.authorized, []],
    ['begins with the approval', [], [['PaymentApproved', { customers: -1000, available: 1000 }]]],
    [
      'moves a refund through reserved',
      [refundSubmitted('refund-1', 300), refundApproved],
      [
        ['RefundSubmitted', { available: -300, reserved: 300 }],
        ['RefundApproved', { customers: 300, reserved: -300 }],
      ],
    ],
    [
      'takes a declined refund back',
      [refundSubmitted('refund-1', 300), refundDeclined],
      [
        ['RefundSubmitted', { available: -300, reserved: 300 }],
        ['RefundDeclined', { available: 300, reserved: -300 }],
      ],
    ],
    [
      'has refunds made elsewhere',
      [sampleEvents.ExternalRefundObserved],
      [['ExternalRefundObserved', { customers: 200, available: -200 }]],
    ],
    [
      'reserves the worst case of a discrepancy until an operator frees it',
      [sampleEvents.ReviewOpened, sampleEvents.ReviewResolved],
      [
        ['ReviewOpened', { available: -100, disputed: 100 }],
        ['ReviewResolved', { available: 100, disputed: -100 }],
      ],
    ],
    [
      'has a dispute until the bank decides, and when it decides anew',
      [disputed('Opened', 0), disputed('Lost', 1), disputed('Won', 2)],
      [
        ['DisputeOpened', { available: -400, disputed: 400 }],
        ['DisputeLost', { disputed: -400, lost: 400 }],
        ['DisputeWon', { available: 400, lost: -400 }],
      ],
    ],
    // A team took 900, lost a dispute of 900, and paid out 900 of another team's money.
    [
      'has a lost dispute, and goes below zero if the money is gone already',
      [sampleEvents.ExternalRefundObserved, disputed('Lost', 1, 1000)],
      [
        ['ExternalRefundObserved', { customers: 200, available: -200 }],
        ['DisputeLost', { available: -1000, lost: 1000 }],
      ],
    ],
    [
      'limits the worst case of a discrepancy to the amount that disputes leave',
      [disputed('Opened', 0, 950), sampleEvents.ReviewOpened, disputed('Lost', 1, 950)],
      [
        ['DisputeOpened', { available: -950, disputed: 950 }],
        ['ReviewOpened', { available: -50, disputed: 50 }],
        ['DisputeLost', { disputed: -950, lost: 950 }],
      ],
    ],
  ])('%s', (name, more, expected) => {
    const history = more === historyTo.authorized ? more : [...historyTo.approved, ...more];
    const entries = ofPayment(history).map(([type, all]) => [type, ...postings(all)]);
    expect(name === 'begins with the approval' ? entries : entries.slice(1)).toEqual(expected);
  });

  test('has no dispute of money that was not taken here', () => {
    expect(ofPayment([...historyTo.declined, disputed('Opened', 0), disputed('Lost', 1)])).toEqual([]);
  });

  test('names the wallet that the payment was requested for', () => {
    expect(ofPayment(historyTo.approved)).toMatchObject([
      [
        'PaymentApproved',
        [{ environment: 'sandbox', wallet: 'team-shop', account: 'main', currency: 'EUR' }],
      ],
    ]);
  });

  // A team adopted a payment of 1,000 whose money it had already paid out, and paid it out again.
  test('keeps adopted money apart until an operator declares it payable', () => {
    expect(ofPayment([adopted()]).map(([, all]) => postings(all))).toEqual([
      [{ customers: -800, adopted: 800 }],
    ]);
    expect(ofPayment([adopted({ payable: true })]).map(([, all]) => postings(all))).toEqual([
      [{ customers: -800, available: 800 }],
    ]);
  });
});

describe('the journal of a payout', () => {
  const { amount } = payoutTerms;
  test.each<[string, readonly PayoutEvent[], [string, object][]]>([
    [
      'reserves while it waits for a second key',
      [payoutApprovalRequested()],
      [['PayoutApprovalRequested', { available: -amount, reserved: amount }]],
    ],
    [
      'moves it out when it is approved',
      payoutHistoryTo.approved,
      [
        ['PayoutRequested', { available: -amount, reserved: amount }],
        ['PayoutApproved', { reserved: -amount, paidOut: amount }],
      ],
    ],
    ...(['failed', 'declined'] as const).map(
      (phase): [string, readonly PayoutEvent[], [string, object][]] => [
        `takes it back when it has ${phase}`,
        payoutHistoryTo[phase],
        [
          ['PayoutRequested', { available: -amount, reserved: amount }],
          [phase === 'failed' ? 'PayoutFailed' : 'PayoutDeclined', { available: amount, reserved: -amount }],
        ],
      ],
    ),
    [
      'keeps it reserved while its outcome is unknown',
      payoutHistoryTo.unresolved,
      [['PayoutRequested', { available: -amount, reserved: amount }]],
    ],
  ])('%s', (_, history, expected) => {
    expect(ofPayout(history).map(([type, all]) => [type, ...postings(all)])).toEqual(expected);
  });
});

test('a transfer has an entry in each of its two wallets', () => {
  const transfer = { environment: 'sandbox', account: 'main', currency: 'EUR', amount: 70 } as const;
  const entries = entriesOf(
    [],
    standingsOfTransfer({ ...transfer, from: 'team-shop', to: 'wallet-both', reason: 'ordered' }),
  );
  expect(entries.map(({ wallet }, index) => [wallet, postings(entries)[index]])).toEqual([
    ['team-shop', { available: -70, transferred: 70 }],
    ['wallet-both', { available: 70, transferred: -70 }],
  ]);
});

test.each([
  ['payment', 'PaymentApproved', 'payment'],
  ['payment', 'PaymentAdopted', 'adoption'],
  ['payment', 'FinalStatusRevised', 'payment'],
  ['payment', 'ExternalRefundObserved', 'refund'],
  ['payment', 'RefundSubmitted', 'refund'],
  ['payment', 'DisputeOpened', 'dispute'],
  ['payout', 'ReviewOpened', 'discrepancy'],
  ['payout', 'FinalStatusRevised', 'payout'],
  ['transfer', 'WalletTransferred', 'transfer'],
] as const)('an entry of a %s by %s is about a %s', (subject, type, kind) => {
  expect(entryKindOf(subject, type)).toBe(kind);
});

describe('amounts under the daily limits', () => {
  const after = (history: readonly PaymentEvent[]) => {
    const payment = history.reduce<PaymentState>(evolve, undefined);
    return payment === undefined ? [] : spendingOfPayment(payment, 5);
  };
  const payment = { operation: 'payment', keyId: 'key-1', at: 5, amount: 1000 };
  const refund = { operation: 'refund', keyId: 'key-1', at: 0, amount: 300 };

  test.each<[string, readonly PaymentEvent[], object[]]>([
    ['a payment under way', historyTo.requested, [payment]],
    ['a declined one does not', historyTo.declined, []],
    ['an expired one does not', historyTo.expired, []],
    ['a failed one does not', historyTo.failed, []],
    [
      'a refund without an outcome',
      [...historyTo.approved, refundSubmitted('refund-1', 300)],
      [payment, refund],
    ],
    [
      'a declined refund does not',
      [...historyTo.approved, refundSubmitted('refund-1', 300), refundDeclined],
      [payment],
    ],
    ['an adopted payment does not', [adopted()], []],
  ])('%s', (_, history, expected) => {
    expect(after(history)).toMatchObject(expected);
    expect(after(history)).toHaveLength(expected.length);
  });

  test.each(Object.entries(payoutHistoryTo))(
    'a payout counts until it is declined or fails: %s',
    (phase, history) => {
      const counted = { operation: 'payout', keyId: 'key-1', at: 7, amount: payoutTerms.amount };
      const expected = phase === 'declined' || phase === 'failed' ? [] : [counted];
      const spending = spendingOfPayout(payoutAfter(history), 7);
      expect(spending).toMatchObject(expected);
      expect(spending).toHaveLength(expected.length);
    },
  );
});
