/** Section 7: errors; section 9: versioning. */
import {
  describe,
  expectDecidedFailure,
  expectFailure,
  expectFailureOf,
  hasSucceeded,
  kinds,
  type Answer,
} from '../answers.ts';
import { check, section } from '../conformance-test.ts';
import type { Peer } from '../peer.ts';

const errors = section(7);
const versioning = section(9);

const createWith = (peer: Peer, fields: Record<string, unknown>) =>
  peer.call('POST', '/api/v1/payments', { body: peer.terms(fields) });

/** Calls that fail for different reasons. */
const failingCalls = async (peer: Peer): Promise<Answer[]> => [
  await createWith(peer, { amount: 'much' }),
  await peer.call('POST', '/api/v1/payments', { body: {} }),
  await peer.call('POST', '/api/v1/payments', { rawBody: '{' }),
  await peer.call('GET', `/api/v1/payments/${peer.newName()}`),
  await peer.call('GET', '/api/v1/payments', { authorization: null }),
];

const errorTests = [
  errors.specified('a failed call returns success false and a list of errors', async (peer) => {
    for (const answer of await failingCalls(peer)) expectFailure(answer);
  }),
  errors.specified('each error has a code and a kind, one of the four', async (peer) => {
    for (const { code, kind } of (await failingCalls(peer)).flatMap(expectFailure))
      check(code !== '' && kinds.includes(kind), 'Each error should have a code and a kind.');
  }),
  errors.specified('a missing parameter gives kind invalid_request_error', async (peer) => {
    expectFailureOf('invalid_request_error', await peer.call('POST', '/api/v1/payments', { body: {} }));
  }),
  errors.specified('an invalid parameter gives kind invalid_request_error', async (peer) => {
    for (const fields of [{ amount: 'much' }, { currency: 7 }, { callbackUrl: 'nowhere' }])
      expectFailureOf('invalid_request_error', await createWith(peer, fields));
  }),
  errors.specified(
    'an operation that could not be processed gives kind processing_error',
    'the refund of an unpaid payment cannot be processed',
    async (peer) => {
      const { token } = await peer.create();
      const answer = await peer.call('POST', '/api/v1/refunds', { body: { token } });
      expectFailureOf('processing_error', answer);
    },
  ),
  errors.specified("a problem on the service's side gives kind api_error", async (peer) => {
    const { token } = await peer.create();
    await peer.sandbox().failNext('get');
    try {
      expectFailureOf('api_error', await peer.call('GET', `/api/v1/payments/${token}`));
    } finally {
      await peer.sandbox().clearFaults();
    }
  }),
  errors.decided('a wrong amount: HTTP 400, incorrect_amount', async (peer) => {
    expectDecidedFailure(await createWith(peer, { amount: 0 }), 400, 'incorrect_amount');
  }),
  errors.decided('a wrong currency: HTTP 400, incorrect_currency', async (peer) => {
    expectDecidedFailure(await createWith(peer, { currency: 'EURO' }), 400, 'incorrect_currency');
  }),
  errors.decided('another wrong parameter: HTTP 400, invalid_param', async (peer) => {
    expectDecidedFailure(await createWith(peer, { product: '' }), 400, 'invalid_param');
  }),
  errors.decided('a body that is no JSON: HTTP 400, invalid_json', async (peer) => {
    const answer = await peer.call('POST', '/api/v1/payments', { rawBody: '{' });
    expectDecidedFailure(answer, 400, 'invalid_json');
  }),
  errors.decided('an unknown token: HTTP 404, payment_not_found', async (peer) => {
    const answer = await peer.call('GET', `/api/v1/payments/${peer.newName()}`);
    expectDecidedFailure(answer, 404, 'payment_not_found');
  }),
];

const versioningTests = [
  versioning.specified('the version is the path segment /api/v1: elsewhere is no endpoint', async (peer) => {
    check(
      hasSucceeded(await peer.call('GET', '/api/v1/payments')),
      '/api/v1/payments should be an endpoint.',
    );
    for (const path of ['/payments', '/api/payments', '/v1/payments', '/api/v0/payments']) {
      const answer = await peer.call('POST', path, { body: peer.terms() });
      check(!hasSucceeded(answer), `${path} should be no endpoint; ${describe(answer)}`);
    }
  }),
];

export { errorTests, versioningTests };
