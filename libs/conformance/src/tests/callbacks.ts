/** Section 6: events. */
import { expectSuccess, isStatus, textField } from '../answers.ts';
import type { Callback } from '../callbacks.ts';
import { poll } from '../clock.ts';
import { check, section, pageAddress, refundNamesPayment, twoStepIsAskedFor } from '../conformance-test.ts';
import { twoStep } from './payments.ts';
import { createExpired, createRefunded } from './states.ts';

const { specified, decided } = section(6);

const show = ({ method, path, text }: Callback): string => `${method} ${path} ${text}`;

function expectOrderNumber(callback: Callback, orderNumber: string): void {
  check(
    callback.body['orderNumber'] === orderNumber,
    `The callback should carry orderNumber ${orderNumber}; it was ${show(callback)}`,
  );
}

export const callbackTests = [
  specified('a callback is an HTTP POST to the callbackUrl given at creation', async (peer) => {
    const payment = await peer.createSettled('approved');
    const callback = await peer.untilCallback(payment, 'approved');
    check(callback.method === 'POST', `The callback should be a POST; it was ${show(callback)}`);
    check(
      String(payment.terms['callbackUrl']).endsWith(callback.path),
      `It should go to the address given; it was ${show(callback)}`,
    );
  }),
  specified('the body of a callback is JSON (section 2)', async (peer) => {
    const callback = await peer.untilCallback(await peer.createSettled('approved'), 'approved');
    check(
      /^application\/(.+\+)?json\b/i.test(callback.contentType),
      `It should be marked as JSON, not as "${callback.contentType}".`,
    );
  }),
  specified("each callback carries the merchant's orderNumber, its own", async (peer) => {
    for (const payment of [await peer.createSettled('approved'), await peer.createSettled('declined')]) {
      await peer.untilCallback(payment, await peer.statusOf(payment.token));
      for (const callback of peer.receivedFor(payment)) expectOrderNumber(callback, payment.orderNumber);
    }
  }),
  specified('each callback carries a status, one of the six', async (peer) => {
    const payment = await peer.createSettled('approved');
    await peer.untilCallback(payment, 'approved');
    for (const callback of peer.receivedFor(payment)) {
      const { status } = callback.body;
      check(
        typeof status === 'string' && isStatus(status),
        `It should carry a status; it was ${show(callback)}`,
      );
    }
  }),
  specified('the final status declined is posted', async (peer) => {
    await peer.untilCallback(await peer.createSettled('declined'), 'declined');
  }),
  specified(
    'each status change is posted: pending while the customer pays, then the outcome',
    pageAddress,
    async (peer) => {
      const payment = await peer.create();
      await peer.browse(textField(payment.answer, 'processingUrl'));
      await peer.untilCallback(payment, 'pending');
      await peer.sandbox().pay(payment, 'approved');
      await peer.untilCallback(payment, 'approved');
    },
  ),
  specified('the status change to refunded is posted', refundNamesPayment, async (peer) => {
    const payment = await createRefunded(peer);
    expectOrderNumber(await peer.untilCallback(payment, 'refunded'), payment.orderNumber);
  }),
  specified('the status change to expired is posted', async (peer) =>
    peer.untilCallback(await createExpired(peer), 'expired'),
  ),
  specified('the outcome of a two-step payment is posted', twoStepIsAskedFor, async (peer) => {
    for (const [operation, status] of [
      ['confirm', 'approved'],
      ['decline', 'declined'],
    ] as const) {
      const payment = await peer.createHeld();
      expectSuccess(await twoStep(peer, operation, payment.token));
      await peer.untilCallback(payment, status);
    }
  }),
  decided('a callback that is not answered HTTP 200 is sent again', async (peer) => {
    const payment = await peer.create();
    peer.answerCallbacks(payment.orderNumber, [500]);
    await peer.sandbox().pay(payment, 'declined');
    const found = await poll(peer.clock, peer.patienceMs, () => {
      const texts = peer.receivedFor(payment).map(({ text }) => text);
      return new Set(texts).size < texts.length ? true : undefined;
    });
    check(found === true, 'The callback that was answered HTTP 500 should come again.');
  }),
  decided('a full refund sends a callback of its own, of type refund', async (peer) => {
    const payment = await createRefunded(peer);
    const found = await poll(peer.clock, peer.patienceMs, () =>
      peer.receivedFor(payment).find(({ body }) => body['type'] === 'refund'),
    );
    check(found?.body['status'] === 'approved', 'A callback of type refund and status approved should come.');
  }),
  decided('a callback holds token, type, amount and currency', async (peer) => {
    const payment = await peer.createSettled('approved');
    const { body } = await peer.untilCallback(payment, 'approved');
    const { token, type, amount, currency } = body;
    check(token === payment.token, `token should be ${payment.token}, not ${JSON.stringify(token)}.`);
    check(
      (type === 'payment' || type === 'pay') && amount === 1250 && currency === peer.currency,
      `The callback should hold type, amount and currency; it was ${JSON.stringify(body)}`,
    );
  }),
];
