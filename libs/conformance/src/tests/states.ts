/** Section 3: states and transitions. */
import { check, section, pageAddress, refundNamesPayment } from '../conformance-test.ts';
import { describe, expectSuccess, isStatus, listIn, textField, type Status } from '../answers.ts';
import type { Payment, Peer } from '../peer.ts';

const { specified } = section(3);

const minuteMs = 60_000;
/** Longer than the page of a payment may stay open. */
const abandonedAfterMs = 31 * minuteMs;

export async function createExpired(peer: Peer): Promise<Payment> {
  const payment = await peer.create();
  await peer.sandbox().advance(abandonedAfterMs);
  await peer.untilStatus(payment, 'expired');
  return payment;
}

export async function createRefunded(peer: Peer): Promise<Payment> {
  const payment = await peer.createSettled('approved');
  expectSuccess(await peer.refund(payment));
  await peer.untilStatus(payment, 'refunded');
  return payment;
}

const finals = [
  ['approved', (peer: Peer) => peer.createSettled('approved')],
  ['declined', (peer: Peer) => peer.createSettled('declined')],
  ['refunded', createRefunded],
  ['expired', createExpired],
] as const;

async function expectStill(peer: Peer, { token }: Payment, status: Status): Promise<void> {
  const now = await peer.statusOf(token);
  check(now === status, `The final state ${status} should stay, and became ${now}.`);
}

export const stateTests = [
  specified('a payment has one of the six states, each one in the list', async (peer) => {
    await peer.create();
    const answer = await peer.call('GET', '/api/v1/payments');
    for (const { status } of listIn(answer))
      check(
        typeof status === 'string' && isStatus(status),
        `${JSON.stringify(status)} is no state; ${describe(answer)}`,
      );
  }),
  specified('init: the payment has been created', async (peer) => {
    await peer.untilStatus(await peer.create(), 'init');
  }),
  specified('pending: the customer is completing payment', pageAddress, async (peer) => {
    const payment = await peer.create();
    await peer.browse(textField(payment.answer, 'processingUrl'));
    await peer.untilStatus(payment, 'pending');
  }),
  specified('approved: the payment completed successfully', async (peer) => {
    await peer.createSettled('approved');
  }),
  specified('declined: the payment did not complete', async (peer) => {
    await peer.createSettled('declined');
  }),
  specified('refunded: the payment was refunded', refundNamesPayment, async (peer) => createRefunded(peer)),
  specified('expired: the payment was abandoned', async (peer) => {
    await createExpired(peer);
  }),
  ...finals.map(([status, create]) =>
    specified(`${status} is final: it stays, whatever the customer does`, async (peer) => {
      const payment = await create(peer);
      for (const outcome of ['approved', 'declined'] as const) await peer.sandbox().pay(payment, outcome);
      await expectStill(peer, payment, status);
    }),
  ),
  specified('final states stay when time passes', async (peer) => {
    const approved = await peer.createSettled('approved');
    const declined = await peer.createSettled('declined');
    await peer.sandbox().advance(abandonedAfterMs);
    await expectStill(peer, approved, 'approved');
    await expectStill(peer, declined, 'declined');
  }),
];
