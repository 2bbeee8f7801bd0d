/** Section 5: authentication. */
import {
  expectDecidedFailure,
  expectFailure,
  expectFailureOf,
  expectSuccess,
  findField,
} from '../answers.ts';
import { check, section, pageAddress } from '../conformance-test.ts';
import type { Method, Peer } from '../peer.ts';

const { specified, decided } = section(5);

/** Every row of the endpoint table of section 4. */
const endpoints: readonly (readonly [Method, string])[] = [
  ['POST', '/api/v1/payments'],
  ['GET', '/api/v1/payments/{token}'],
  ['GET', '/api/v1/payments'],
  ['POST', '/api/v1/payments/confirm'],
  ['POST', '/api/v1/payments/decline'],
  ['POST', '/api/v1/refunds'],
  ['POST', '/api/v1/payouts'],
  ['GET', '/api/v1/balance'],
  ['GET', '/api/v1/disputes/list'],
];

/** A call that would be in order, were it not for its key. */
async function callEndpoint(
  peer: Peer,
  [method, path]: readonly [Method, string],
  authorization: string | null,
) {
  const { token } = await peer.create();
  const body = path === '/api/v1/payments' ? peer.terms() : { token };
  const options = { authorization, ...(method === 'POST' ? { body } : {}) };
  return peer.call(method, path.replace('{token}', token), options);
}

const keyTests = endpoints.map((endpoint) =>
  specified(
    `every request carries the key: ${endpoint.join(' ')} is rejected without one, and with a wrong one`,
    async (peer) => {
      for (const authorization of [null, `Bearer ${wrongKey(peer)}`])
        expectFailureOf('authentication_error', await callEndpoint(peer, endpoint, authorization));
    },
  ),
);

/** The right key but for one character: the first one behind the last `_`, which stands for the environment. */
function wrongKey({ key }: Peer): string {
  const at = key.lastIndexOf('_') + 1;
  return `${key.slice(0, at)}${key[at] === '0' ? '1' : '0'}${key.slice(at + 1)}`;
}

const list = (peer: Peer, authorization: string | null) =>
  peer.call('GET', '/api/v1/payments', { authorization });

export const authenticationTests = [
  specified('Authorization: Bearer <PRIVATE_KEY> is the credential', async (peer) => {
    expectSuccess(await list(peer, `Bearer ${peer.key}`));
  }),
  ...keyTests,
  specified('the key counts only as a bearer token in the Authorization header', async (peer) => {
    const basic = `Basic ${Buffer.from(`${peer.key}:`).toString('base64')}`;
    for (const authorization of [basic, peer.key, 'Bearer', 'Bearer '])
      expectFailureOf('authentication_error', await list(peer, authorization));
    const path = `/api/v1/payments?key=${peer.key}&access_token=${peer.key}`;
    expectFailureOf('authentication_error', await peer.call('GET', path, { authorization: null }));
  }),
  specified('a rejected creation creates nothing', 'payments are listed by orderNumber', async (peer) => {
    const body = peer.terms();
    const { orderNumber } = body;
    expectFailure(
      await peer.call('POST', '/api/v1/payments', { body, authorization: `Bearer ${wrongKey(peer)}` }),
    );
    const listed = await peer.call('GET', `/api/v1/payments?orderNumber=${orderNumber}`);
    expectSuccess(listed);
    check(findField(listed.body, 'token') === undefined, 'The rejected payment should not exist.');
  }),
  ...endpoints.map(([method, path]) =>
    specified(`${method} ${path} over plain HTTP is rejected, with the right key too`, async (peer) => {
      const { token } = await peer.create();
      const body = method === 'POST' ? { body: peer.terms() } : {};
      const answer = await peer.callPlainHttp(method, path.replace('{token}', token), body);
      expectFailureOf('authentication_error', answer);
    }),
  ),
  specified('a key of one environment is for that environment', async (peer) => {
    expectFailureOf('authentication_error', await list(peer, `Bearer ${peer.otherKey()}`));
  }),
  specified(
    "private keys belong on the merchant's server: the payment page does not hold it, nor does an answer",
    pageAddress,
    async (peer) => {
      const { token, answer } = await peer.create();
      const page = findField(answer.body, 'processingUrl');
      const wrong = await peer.call('POST', '/api/v1/payments', { body: { key: peer.key } });
      const texts = [answer, await peer.retrieve(token), wrong].map(({ text }) => text);
      if (typeof page === 'string') texts.push((await peer.browse(page)).text);
      check(!texts.some((text) => text.includes(peer.key)), 'The private key should not be shown anywhere.');
    },
  ),
  decided('no key: HTTP 401, auth_header_not_found', async (peer) => {
    expectDecidedFailure(await list(peer, null), 401, 'auth_header_not_found');
  }),
  decided('a wrong key: HTTP 401, incorrect_private_key', async (peer) => {
    expectDecidedFailure(await list(peer, `Bearer ${wrongKey(peer)}`), 401, 'incorrect_private_key');
  }),
  decided('plain HTTP: HTTP 403, https_required', async (peer) => {
    expectDecidedFailure(await peer.callPlainHttp('GET', '/api/v1/payments'), 403, 'https_required');
  }),
];
