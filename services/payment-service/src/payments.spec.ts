import { describe, expect, it } from 'vitest';
import { cardBehaviour } from './cards.ts';
import {
  answerAuthentication,
  checkoutLifetimeMs,
  customerStep,
  expireWhenDue,
  holdLifetimeMs,
  needsCallback,
  isPaid,
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
import {
  approvedCard,
  authenticatedCard,
  authenticatedDeclinedCard,
  declinedCard,
  tea,
} from './testing/samples.ts';

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
  it('begins in init and lasts thirty minutes', () => {
    expect(created()).toMatchObject({
      status: 'init',
      locale: '',
      heldAmount: 0,
      expiresAt: start + 30 * 60_000,
    });
  });

  it('becomes pending when the page is opened, once', () => {
    const opened = after(created(), openCheckout);
    expect(statusesOf(opened)).toEqual(['init', 'pending']);
    expect(openCheckout(opened, start + 9_000)).toBe(opened);
  });

  it.each([
    ['approved by the approving card', [openCheckout, withCard(approvedCard)], 'approved', undefined],
    ['declined by the declining card', [openCheckout, withCard(declinedCard)], 'declined', 'card_declined'],
    ['declined by any other card', [openCheckout, withCard('4111111111111111')], 'declined', 'card_declined'],
    [
      'approved once authenticated',
      [openCheckout, withCard(authenticatedCard), confirm],
      'approved',
      undefined,
    ],
    [
      'declined although authenticated',
      [openCheckout, withCard(authenticatedDeclinedCard), confirm],
      'declined',
      'card_declined',
    ],
    [
      'declined when the customer rejects',
      [openCheckout, withCard(authenticatedCard), reject],
      'declined',
      'authentication_rejected',
    ],
    [
      'declined by the tester',
      [openCheckout, settleAs('declined', recurringToken)],
      'declined',
      'card_declined',
    ],
  ] as const)('is %s', (_name, steps, status, declineReason) => {
    const payment = after(created(), ...steps);
    expect(statusesOf(payment)).toEqual(['init', 'pending', status]);
    expect(payment.declineReason).toBe(declineReason);
    expect(payment.expiresAt).toBeUndefined();
    expect(customerStep(payment)).toBe('none');
  });

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

  it('stays pending with the whole amount authorized', () => {
    expect(authorized).toMatchObject({
      status: 'pending',
      heldAmount: tea.amount,
      expiresAt: start + 2_000 + holdLifetimeMs,
    });
    expect(customerStep(authorized)).toBe('none');
    expect(isPaid(authorized)).toBe(true);
  });

  it('needs a callback when it is authorized, though the status is the same', () => {
    const opened = after(created({ needConfirmation: true }), openCheckout);
    expect(needsCallback(opened, authorized)).toBe(true);
    expect(needsCallback(authorized, authorized)).toBe(false);
  });
});

describe('a recurring token', () => {
  it('is given out when the customer has paid and the merchant asked for it', () => {
    const paid = after(created({ recurring: true }), openCheckout, withCard(approvedCard));
    expect(paid.recurringToken).toBe(recurringToken);
  });

  it.each([
    ['unasked', created(), approvedCard],
    ['for a declined card', created({ recurring: true }), declinedCard],
  ])('is not given out %s', (_name, payment, pan) => {
    expect(after(payment, openCheckout, withCard(pan)).recurringToken).toBeUndefined();
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

  it('declines what was approved', () => {
    expect(after(approved, revise('declined', undefined))).toMatchObject({
      status: 'declined',
      amount: tea.amount,
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
