/** Answers of other deployments that the sandbox does not give, and their result at the port. */
import { Secret, systemClock } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { Provider } from '@tollgate/core';
import { createAuthority, issue, json, startHttpsPeer, type HttpsPeer } from '../testing/https-peer.ts';
import { createPaymentService } from './payment-service.ts';

const pan = '4392963203551251';
const payment = { token: 'token-1', status: 'approved', amount: 450, currency: 'EUR' };
const dispute = { id: 'dispute-1', amount: 5, currency: 'EUR', status: 'pending' };
const request = {
  product: 'Tea',
  amount: 450,
  currency: 'EUR',
  orderNumber: 'pay_1.1',
  callbackUrl: 'https://gateway.example/callbacks',
  isCaptureDeferred: false,
  isRecurring: false,
};

let peer: HttpsPeer;
let provider: Provider;
let open: (baseUrl: string) => Provider;

beforeAll(async () => {
  const authority = await createAuthority('Ours');
  peer = await startHttpsPeer(await issue(authority), json(500, 'no behavior was set'));
  open = (baseUrl) =>
    createPaymentService({
      baseUrl,
      privateKey: new Secret('sk_sandbox_1'),
      ca: authority.cert,
      clock: systemClock,
    });
  provider = open(peer.baseUrl);
});
afterAll(async () => {
  await provider.close();
  await peer.close();
});

const authorize = () => provider.authorize(request, () => true);
const refuse = (error: object) => peer.next(json(422, { success: false, errors: [error] }));

// The service refuses unknown parameters: an account was never followed by another one.
test('the deadline of the answer is ours, and not sent', async () => {
  const { isCaptureDeferred: _, isRecurring: __, ...sent } = request;
  refuse({ code: 'invalid_param', kind: 'invalid_request_error', message: 'no' });
  await provider.authorize({ ...request, answerWithinMs: 5_000 }, () => true);
  expect(JSON.parse(peer.arrivals.at(-1)?.body ?? '')).toEqual(sent);
});

test('an order number that exists already is this very call, delivered twice: its outcome is unknown', async () => {
  const error = { code: 'order_number_already_exists', kind: 'invalid_request_error', message: 'exists' };
  refuse(error);
  expect(await authorize()).toEqual({ kind: 'unknown', reason: 'the order number was refused' });
});

// A deployment returns "has already been taken" under its own code: the charge of the first delivery was recorded as refused,
// and a caller who repeated the
// request charged the card again.
test.each(['invalid_param', 'not_unique', 'duplicate_order_number'])(
  'a refusal that names our order number as its parameter (%s) is one, too',
  async (code) => {
    refuse({ code, kind: 'invalid_request_error', parameter: 'orderNumber', message: 'already taken' });
    expect((await authorize()).kind).toBe('unknown');
  },
);

// '2026-11-24 01:00:00' was read in the zone of the gateway: one hour too early in Berlin, so that a payout whose answer had
// been lost was older than its own
// call, and mistaken for a foreign one.
test('a time without a zone proves nothing about the time, in any zone of the gateway', async () => {
  const { TZ } = process.env;
  try {
    for (const [createdAt, instant] of [
      ...['2026-11-24 01:00:00', '2026-11-24T01:00:00.123', '2026-11-24'].map((text) => [text] as const),
      ...['2026-11-24T01:00:00Z', '2026-11-24 02:00:00.000+01:00', '2026-11-23 20:00:00 -0500'].map(
        (text) => [text, Date.UTC(2026, 10, 24, 1)] as const,
      ),
      ['Tue, 24 Nov 2026 01:00:00 GMT', Date.UTC(2026, 10, 24, 1)] as const,
    ])
      for (const zone of ['UTC', 'Europe/Berlin', 'America/New_York']) {
        process.env['TZ'] = zone;
        peer.next(json(200, { success: true, payment: { ...payment, createdAt } }));
        const outcome = await provider.inquirePayment('token-1');
        expect(outcome.kind === 'accepted' && outcome.answer.observed.createdAt).toBe(instant);
      }
  } finally {
    if (TZ === undefined) delete process.env['TZ'];
    else process.env['TZ'] = TZ;
  }
});

test.each([
  ['authentication_error', true],
  ['settings_error', true],
  ['processing_error', undefined],
])("whether a refusal of kind %s is the account's is %s", async (kind, isAccountRefused) => {
  refuse({ code: 'balance_less_than_amount', kind, message: 'no' });
  const outcome = await authorize();
  expect(outcome.kind).toBe('refused');
  expect('isAccountRefused' in outcome ? outcome.isAccountRefused : undefined).toBe(isAccountRefused);
});

// A control character of a decline reason moved the cursor of a terminal, and U+202E reversed a line of a CSV file.
test('texts are visible, and on one line', async () => {
  const declineReason = 'Do\u001b[2J not\r\nhonor\u202e7521';
  peer.next(json(200, { success: true, payment: { ...payment, status: 'declined', declineReason } }));
  expect(await provider.inquirePayment('token-1')).toMatchObject({
    answer: { observed: { declineReason: 'Do\ufffd[2J not honor\ufffd7521' } },
  });
});

test('a recurring token that is a card number is not kept', async () => {
  peer.next(json(200, { success: true, payment: { ...payment, recurringToken: '4392963203551251' } }));
  expect(JSON.stringify(await provider.inquirePayment('token-1'))).not.toContain('4392963203551251');
});

test.each([
  ['a creation', () => authorize(), { token: '4392963203551251' }],
  [
    'a search',
    () => provider.listPayments({ orderNumber: 'o-1' }),
    { payments: [{ ...payment, token: '4392 9632 0355 1251', orderNumber: 'o-1' }] },
  ],
])('%s is unknown if the token is a card number, which is not stored', async (_what, call, body) => {
  peer.next(json(200, { success: true, ...body }));
  expect(await call()).toEqual({ kind: 'unknown', reason: 'success with a secret as token' });
});

test.each(['', 'javascript:alert(1)', 'http://pay.example/p', 'no url', null])(
  'a processing page that customers must not be sent to (%j) does not keep the status from us',
  async (processingUrl) => {
    peer.next(json(200, { success: true, payment: { ...payment, processingUrl } }));
    const { token: serviceToken, ...shown } = payment;
    expect(await provider.inquirePayment('token-1')).toEqual({
      kind: 'accepted',
      answer: { observed: { serviceToken, ...shown } },
    });
  },
);

test.each([
  [{}, {}],
  [{ heldAmount: null, refundedAmount: null }, {}],
  [
    { heldAmount: 0, refundedAmount: 0 },
    { authorizedAmount: 0, refundedAmount: 0 },
  ],
])('sums that are not shown are not 0: %j', async (sums, expected) => {
  peer.next(json(200, { success: true, payment: { ...payment, ...sums } }));
  const { token: serviceToken, ...shown } = payment;
  expect(await provider.inquirePayment('token-1')).toEqual({
    kind: 'accepted',
    answer: { observed: { serviceToken, ...shown, ...expected } },
  });
});

test.each([
  ['30569309025904', '**********5904'],
  ['305693****5904', '**********5904'],
  ['439296******1251', '439296******1251'],
])('of the mask %s, only the displayable part is used', async (sanitizedMask, kept) => {
  peer.next(json(200, { success: true, payment: { ...payment, sanitizedMask } }));
  expect(await provider.inquirePayment('token-1')).toMatchObject({
    answer: { observed: { sanitizedMask: kept } },
  });
});

test('a card number in the mask or the decline reason is removed, and the rest of the text is kept', async () => {
  const leaking = { ...payment, sanitizedMask: pan, declineReason: `card ${pan} is blocked` };
  peer.next(
    json(200, { success: true, payment: leaking }),
    json(200, { success: true, payment: { ...leaking, operationType: 'payout' } }),
  );
  const outcomes = [await provider.inquirePayment('token-1'), await provider.inquirePayout('token-1')];
  expect(outcomes.map(({ kind }) => kind)).toEqual(['accepted', 'accepted']);
  expect(JSON.stringify(outcomes)).not.toContain(pan);
  for (const outcome of outcomes) expect(JSON.stringify(outcome)).toMatch(/card \d{6}\*+\d{4} is blocked/);
});

test.each([undefined, null, ''])('a dispute whose token is %j names no payment', async (token) => {
  peer.next(json(200, { success: true, disputes: [{ ...dispute, token }] }));
  const outcome = await provider.listDisputes();
  expect(outcome).toMatchObject({ kind: 'accepted', answer: { found: [{ observed: { id: 'dispute-1' } }] } });
  expect(JSON.stringify(outcome)).not.toContain('serviceToken');
});

test('a dispute may have a numeric id, and is accepted without a readable date', async () => {
  peer.next(json(200, { success: true, disputes: [{ ...dispute, id: 17, createdAt: 'yesterday' }] }));
  expect(await provider.listDisputes()).toMatchObject({
    answer: { found: [{ observed: { id: '17', amount: 5 } }] },
  });
});

describe('a call whose connection takes longer than the call may wait', () => {
  /** Between us and the peer: it forwards nothing until it is opened, so that the handshake stalls. */
  async function startRelay() {
    const sockets: Socket[] = [];
    const relay = createServer((socket) => sockets.push(socket.pause().on('error', () => {})));
    relay.listen(0, '127.0.0.1');
    await once(relay, 'listening');
    const open = () => {
      for (const socket of sockets.splice(0)) {
        const onward = connect(peer.port, '127.0.0.1').on('error', () => {});
        socket.pipe(onward).pipe(socket).resume();
      }
    };
    const { port } = relay.address() as AddressInfo;
    return { port, open, arrived: () => sockets.length, close: () => relay.close() };
  }

  // A gateway that was suspended in the handshake sent the call when it woke up, long after a person had read that nothing was
  // created: the card was charged twice.
  it('is never sent, and provably so', async () => {
    const relay = await startRelay();
    const { authorize, close } = open(`https://localhost:${relay.port}`);
    let isDue = true;
    const before = peer.arrivals.length;
    const outcome = authorize(request, () => isDue);
    await eventually(() => expect(relay.arrived()).toBe(1));
    isDue = false;
    relay.open();
    expect(await outcome).toEqual({ kind: 'not-sent', reason: 'the time to send had passed' });
    expect(peer.arrivals.length).toBe(before);
    await close();
    relay.close();
  });
});
