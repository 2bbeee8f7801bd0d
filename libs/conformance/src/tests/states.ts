/** Section 3: states and transitions. */
import { check, section } from '../conformance-test.ts';
import { describe, expectSuccess, isStatus, listIn, textField, type Status } from '../answers.ts';
import type { Payment, Peer } from '../peer.ts';
import { pageAddress, refundNamesPayment } from './relied-on.ts';

const { specified } = section(3);

const minuteMs = 60_000;
/** Longer than the page of a payment may stay open. */
const abandonedAfterMs = 31 * minuteMs;

export async function createExpired(peer: Peer): Promise<Payment> {
  const payment = await peer.create();
  await peer.sandbox.advance(abandonedAfterMs);
  await peer.untilStatus(payment, 'expired');
  return payment;
}

export async function createRefunded(peer: Peer): Promise<Payment> {
  const payment = await peer.createSettled('approved');
  expectSuccess(await peer.refund(payment));
  await peer.untilStatus(payment, 'refunded');
  return payment;
}

/** The customer tries again, either way; whatever is answered, the state stays. */
async function expectStays(peer: Peer, payment: Payment, status: Status): Promise<void> {
  for (const outcome of ['approved', 'declined'] as const) await peer.sandbox.pay(payment, outcome);
  const now = await peer.statusOf(payment.token);
  check(now === status, `The final state ${status} should stay, and became ${now}.`);
}

export const stateTests = [
  specified('a payment has one of the six states, each one in the list', {}, async (peer) => {
    await peer.create();
    const answer = await peer.call('GET', '/api/v1/payments');
    for (const { status } of listIn(answer))
      check(
        typeof status === 'string' && isStatus(status),
        `${JSON.stringify(status)} is no state; ${describe(answer)}`,
      );
  }),
  specified('init: the payment has been created', {}, async (peer) => {
    await peer.untilStatus(await peer.create(), 'init');
  }),
  specified('pending: the customer is completing payment', { relies: pageAddress }, async (peer) => {
    const payment = await peer.create();
    await peer.browse(textField(payment.answer, 'processingUrl'));
    await peer.untilStatus(payment, 'pending');
  }),
  specified('approved: the payment completed successfully', { needs: ['sandbox'] }, async (peer) => {
    await peer.createSettled('approved');
  }),
  specified('declined: the payment did not complete', { needs: ['sandbox'] }, async (peer) => {
    await peer.createSettled('declined');
  }),
  specified(
    'refunded: the payment was refunded',
    { needs: ['sandbox'], relies: refundNamesPayment },
    async (peer) => createRefunded(peer),
  ),
  specified('expired: the payment was abandoned', { needs: ['sandbox', 'clock'] }, async (peer) => {
    await createExpired(peer);
  }),
  specified('init and pending are not final: a payment leaves both', { needs: ['sandbox'] }, async (peer) => {
    await peer.createSettled('approved');
  }),
  specified(
    'approved is final: it stays, whatever the customer does',
    { needs: ['sandbox'] },
    async (peer) => {
      await expectStays(peer, await peer.createSettled('approved'), 'approved');
    },
  ),
  specified(
    'declined is final: it stays, whatever the customer does',
    { needs: ['sandbox'] },
    async (peer) => {
      await expectStays(peer, await peer.createSettled('declined'), 'declined');
    },
  ),
  specified(
    'refunded is final: it stays, whatever the customer does',
    { needs: ['sandbox'], relies: refundNamesPayment },
    async (peer) => expectStays(peer, await createRefunded(peer), 'refunded'),
  ),
  specified(
    'expired is final: it stays, whatever the customer does',
    { needs: ['sandbox', 'clock'] },
    async (peer) => expectStays(peer, await createExpired(peer), 'expired'),
  ),
  specified('final states stay when time passes', { needs: ['sandbox', 'clock'] }, async (peer) => {
    const approved = await peer.createSettled('approved');
    const declined = await peer.createSettled('declined');
    await peer.sandbox.advance(abandonedAfterMs);
    for (const [payment, status] of [
      [approved, 'approved'],
      [declined, 'declined'],
    ] as const) {
      const now = await peer.statusOf(payment.token);
      check(now === status, `The final state ${status} should stay, and became ${now}.`);
    }
  }),
];
