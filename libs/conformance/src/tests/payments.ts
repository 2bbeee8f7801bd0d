/** Section 4: the endpoints that create, read, confirm and decline payments. */
import {
  describe,
  expectDecidedFailure,
  expectFailure,
  expectFailureOf,
  expectField,
  expectSuccess,
  listIn,
  textField,
  type Answer,
  type Json,
} from '../answers.ts';
import { check, section, twoStepIsAskedFor } from '../conformance-test.ts';
import { poll } from '../clock.ts';
import type { Peer } from '../peer.ts';

const { specified, decided } = section(4);

/** Reads a list until it contains the expected entries: a service may list new payments with a short delay. */
export async function untilListed(
  peer: Peer,
  path: string,
  isFound: (entries: Json[]) => boolean,
  expected: string,
): Promise<Answer> {
  const read = () => peer.call('GET', path);
  const found = await poll(peer.clock, peer.patienceMs, async () => {
    const answer = await read();
    return isFound(listIn(answer)) ? answer : undefined;
  });
  const answer = found ?? (await read());
  check(found !== undefined, `${expected}; ${describe(answer)}`);
  return answer;
}

const ofOrder = (orderNumber: string) => `/api/v1/payments?orderNumber=${encodeURIComponent(orderNumber)}`;

export const twoStep = (peer: Peer, operation: 'confirm' | 'decline', token: string) =>
  peer.call('POST', `/api/v1/payments/${operation}`, { body: { token } });

export const paymentTests = [
  specified('all calls use HTTPS, with a certificate that can be verified', async (peer) => {
    check(peer.baseUrl.startsWith('https:'), `The base URL ${peer.baseUrl} is not HTTPS.`);
    expectSuccess(await peer.call('GET', '/api/v1/payments'));
  }),
  specified('POST /api/v1/payments answers HTTP 200 with the payment token', async (peer) => {
    const { answer, token } = await peer.create();
    check(answer.statusCode === 200, `The HTTP status should be 200; ${describe(answer)}`);
    expectField(await peer.retrieve(token), 'token', token);
  }),
  specified('GET /api/v1/payments/{token} retrieves that payment', async (peer) => {
    const [one, other] = [await peer.create({ amount: 101 }), await peer.create({ amount: 102 })];
    for (const { token, terms } of [one, other, one]) {
      const answer = await peer.retrieve(token);
      expectField(answer, 'token', token);
      expectField(answer, 'amount', terms['amount']);
    }
  }),
  specified('GET /api/v1/payments/{token} fails for a token that does not exist', async (peer) => {
    expectFailure(await peer.call('GET', `/api/v1/payments/${peer.newName()}`));
  }),
  specified('GET /api/v1/payments lists payments, a new one among them', async (peer) => {
    const { token } = await peer.create();
    const isFound = (payments: Json[]) => payments.some((payment) => payment['token'] === token);
    await untilListed(peer, '/api/v1/payments', isFound, `Payment ${token} should be listed`);
  }),
  decided('GET /api/v1/payments: orderNumber chooses the payments of one order', async (peer) => {
    const { token, orderNumber } = await peer.create();
    await peer.create();
    const isFound = ([first, ...rest]: Json[]) => first?.['token'] === token && rest.length === 0;
    await untilListed(peer, ofOrder(orderNumber), isFound, `Only payment ${token} should be listed`);
    const none = listIn(await peer.call('GET', ofOrder(peer.newName())));
    check(none.length === 0, 'An unknown orderNumber should have no payments.');
  }),
  decided('GET /api/v1/payments: the newest comes first', async (peer) => {
    const older = await peer.create();
    const newer = await peer.create();
    const isFound = (payments: Json[]) => {
      const place = ({ token }: { token: string }) => payments.findIndex((each) => each['token'] === token);
      return place(newer) >= 0 && place(newer) < place(older);
    };
    await untilListed(peer, '/api/v1/payments', isFound, `${newer.token} should come before ${older.token}`);
  }),
  decided('GET /api/v1/payments: page and perPage choose a part, at most 500', async (peer) => {
    await peer.create();
    await peer.create();
    const [first, second] = [
      listIn(await peer.call('GET', '/api/v1/payments?perPage=1')),
      listIn(await peer.call('GET', '/api/v1/payments?perPage=1&page=2')),
    ];
    check(first.length === 1 && second.length === 1, 'A page should have as many payments as perPage says.');
    check(first[0]?.['token'] !== second[0]?.['token'], 'The second page should not repeat the first.');
    expectFailureOf('invalid_request_error', await peer.call('GET', '/api/v1/payments?perPage=501'));
  }),
  decided('GET /api/v1/payments: dateFrom and dateTo choose the days, both included', async (peer) => {
    const { token, orderNumber } = await peer.create();
    const createdAt = textField(await peer.retrieve(token), 'createdAt').slice(0, 10);
    const isFound = (payments: Json[]) => payments.some((payment) => payment['token'] === token);
    const sameDay = `${ofOrder(orderNumber)}&dateFrom=${createdAt}&dateTo=${createdAt}`;
    await untilListed(peer, sameDay, isFound, `Payment ${token} should be listed`);
    const before = listIn(await peer.call('GET', `${ofOrder(orderNumber)}&dateTo=2000-01-01`));
    check(before.length === 0, 'A payment of today should not be listed for days long ago.');
    const wrong = await peer.call('GET', '/api/v1/payments?dateFrom=yesterday');
    expectFailureOf('invalid_request_error', wrong);
  }),
  specified(
    'POST /api/v1/payments/confirm confirms a two-step payment, which becomes approved',
    twoStepIsAskedFor,
    async (peer) => {
      const payment = await peer.createHeld();
      expectSuccess(await twoStep(peer, 'confirm', payment.token));
      await peer.untilStatus(payment, 'approved');
    },
  ),
  specified(
    'POST /api/v1/payments/decline declines a two-step payment, which becomes declined',
    twoStepIsAskedFor,
    async (peer) => {
      const payment = await peer.createHeld();
      expectSuccess(await twoStep(peer, 'decline', payment.token));
      await peer.untilStatus(payment, 'declined');
    },
  ),
  ...(['confirm', 'decline'] as const).flatMap((operation) => [
    specified(
      `POST /api/v1/payments/${operation} fails for a token that does not exist`,
      twoStepIsAskedFor,
      async (peer) => {
        expectFailure(await twoStep(peer, operation, peer.newName()));
        expectSuccess(await twoStep(peer, operation, (await peer.createHeld()).token));
      },
    ),
    decided(`POST /api/v1/payments/${operation} is refused where no money is authorized`, async (peer) => {
      const { token } = await peer.create();
      expectDecidedFailure(await twoStep(peer, operation, token), 409, 'payment_not_confirmable');
    }),
    decided(`POST /api/v1/payments/${operation} needs the token`, async (peer) => {
      const path = `/api/v1/payments/${operation}`;
      expectFailureOf('invalid_request_error', await peer.call('POST', path, { body: {} }));
      expectSuccess(await twoStep(peer, operation, (await peer.createHeld()).token));
    }),
  ]),
  decided('a two-step payment is pending while its money is authorized, with heldAmount', async (peer) => {
    const { token } = await peer.createHeld();
    const answer = await peer.retrieve(token);
    expectField(answer, 'status', 'pending');
    expectField(answer, 'heldAmount', 1250);
  }),
  decided('a hold that is neither confirmed nor declined lapses after 7 days', async (peer) => {
    const payment = await peer.createHeld();
    await peer.sandbox().advance(7 * 24 * 60 * 60_000 + 60_000);
    await peer.untilStatus(payment, 'expired');
  }),
  decided('retrieval answers payment with its fields', async (peer) => {
    const answer = await peer.retrieve((await peer.create()).token);
    for (const field of ['token', 'status', 'product', 'currency', 'orderNumber', 'createdAt', 'updatedAt'])
      textField(answer, field);
    for (const field of ['heldAmount', 'refundedAmount']) expectField(answer, field, 0);
  }),
];
