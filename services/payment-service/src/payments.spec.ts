import { describe, expect, it } from 'vitest';
import { cardBehaviour } from './cards.ts';
import {
  answerAuthentication,
  checkoutLifetimeMs,
  expireWhenDue,
  holdLifetimeMs,
  needsCallback,
  mayRevise,
  newPayment,
  openCheckout,
  revise,
  settleAs,
  submitCard,
  type CheckoutRequest,
  type Payment,
  type Step,
} from './payments.ts';
import { approvedCard, authenticatedDeclinedCard, declinedCard, tea } from './testing/samples.ts';

const start = 1_800_000_000_000;
const recurringToken = 'f'.repeat(32);

const created = (fields: Partial<CheckoutRequest> = {}): Payment =>
  newPayment({ ...tea, ...fields }, { token: 'a'.repeat(32), merchantId: 1 }, start);
const after = (payment: Payment, ...steps: Step[]): Payment =>
  steps.reduce((current, step, index) => step(current, start + (index + 1) * 1_000), payment);
const withCard = (pan: string): Step => submitCard(cardBehaviour(pan), recurringToken);
const confirm = answerAuthentication(true, recurringToken);
const reject = answerAuthentication(false, recurringToken);
const statusesOf = ({ statuses }: Payment): string[] => statuses.map(({ status }) => status);

describe('the life of a payment', () => {
  it('takes another card while it waits for authentication', () => {
    const payment = after(
      created(),
      openCheckout,
      withCard(authenticatedDeclinedCard),
      withCard(approvedCard),
    );
    expect(payment).toMatchObject({ status: 'approved', sanitizedMask: '439296******1251' });
  });

  it('is not changed by what a customer does after the end', () => {
    const paid = after(created(), openCheckout, withCard(approvedCard));
    for (const step of [openCheckout, withCard(declinedCard), confirm, reject, settleAs('declined', 'x')])
      expect(step(paid, start + 9_000)).toBe(paid);
  });

  it('expires at its time, not a millisecond earlier, from init and from pending', () => {
    const opened = after(created(), openCheckout);
    expect(expireWhenDue(opened, start + checkoutLifetimeMs - 1)).toBe(opened);
    expect(statusesOf(expireWhenDue(opened, start + checkoutLifetimeMs))).toEqual([
      'init',
      'pending',
      'expired',
    ]);
    expect(statusesOf(expireWhenDue(created(), start + checkoutLifetimeMs))).toEqual(['init', 'expired']);
  });

  it('never expires once it is final', () => {
    const paid = after(created(), openCheckout, withCard(approvedCard));
    expect(expireWhenDue(paid, start + 1_000 * holdLifetimeMs)).toBe(paid);
  });
});

describe('a payment that needs confirmation', () => {
  const authorized = after(created({ needConfirmation: true }), openCheckout, withCard(approvedCard));

  it('needs a callback when it is authorized, though the status is the same', () => {
    const opened = after(created({ needConfirmation: true }), openCheckout);
    expect(needsCallback(opened, authorized)).toBe(true);
    expect(needsCallback(authorized, authorized)).toBe(false);
  });
});

describe("an operator's revision", () => {
  const approved = after(created(), openCheckout, withCard(approvedCard));
  const declined = after(created(), openCheckout, withCard(declinedCard));

  it('approves what was declined, with another amount', () => {
    expect(mayRevise(declined, 'approved')).toBe(true);
    expect(after(declined, revise('approved', 999))).toMatchObject({
      status: 'approved',
      amount: 999,
      declineReason: undefined,
    });
  });

  it.each([
    ['approved', approved],
    ['declined', declined],
    ['declined', created()],
    ['approved', created()],
  ] as const)('may not make %s of everything', (status, payment) => {
    expect(mayRevise(payment, status)).toBe(false);
  });
});
