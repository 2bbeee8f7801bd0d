import { answerInJsonOnly, silentLog } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { parseInternalSecrets } from '../configuration/internal-secrets.ts';
import {
  createInternalCredential,
  internalCredentialHeader,
  requestIdHeader,
  requireInternalCredential,
} from './internal-credential.ts';

const clock = createFakeClock();
const [oldSecret, newSecret] = [`old:${'o'.repeat(32)}`, `new:${'n'.repeat(32)}`];
const credentialOf = (secrets: string) => createInternalCredential(parseInternalSecrets(secrets), clock);
const credential = credentialOf(newSecret);

function call(given: string | undefined, url = '/api/v1/payments?page=2', method: 'GET' | 'POST' = 'GET') {
  const app = Fastify();
  answerInJsonOnly(app, silentLog);
  requireInternalCredential(app, credential);
  app.route({ method: ['GET', 'POST'], url: '/api/v1/payments', handler: async () => ({ success: true }) });
  const headers = given === undefined ? {} : { [internalCredentialHeader]: given };
  return app.inject({ method, url, headers });
}

it('accepts a valid credential with any query', async () => {
  expect((await call(credential.sign('GET', '/api/v1/payments'))).statusCode).toBe(200);
});

it("uses the front door's request id, and otherwise keeps its own", async () => {
  const id = `req_${'0'.repeat(29)}`;
  const idFor = async (given: string) => {
    const app = Fastify({ genReqId: () => 'own' });
    requireInternalCredential(app, credential);
    app.addHook('onSend', async (request, reply) => void reply.header('request-id', request.id));
    app.get('/x', async () => ({}));
    const headers = { [internalCredentialHeader]: given, [requestIdHeader]: id };
    return (await app.inject({ url: '/x', headers })).headers['request-id'];
  };
  expect(await idFor(credential.sign('GET', '/x'))).toBe(id);
  expect(await idFor('')).toBe('own');
});

// A service trusted every caller that reached its port, including X-Forwarded-For.
describe('refuses', () => {
  const own = () => credential.sign('GET', '/api/v1/payments');
  it.each([
    ['nothing', () => undefined],
    ['an empty one', () => ''],
    ['one of another method', () => credential.sign('POST', '/api/v1/payments')],
    ['one of another path', () => credential.sign('GET', '/api/v1/payouts')],
    ['one under another secret', () => credentialOf(`new:${'x'.repeat(32)}`).sign('GET', '/api/v1/payments')],
    ['one under a name that it does not know', () => credentialOf(oldSecret).sign('GET', '/api/v1/payments')],
    ['one that was cut', () => own().slice(0, -1)],
    ['one whose time was changed', () => own().replace(/\.(\d+)\./, (_, at) => `.${Number(at) + 1}.`)],
    ['one without a time', () => own().replace(/\.\d+\./, '..')],
  ])('%s', async (_name, given) => {
    const answer = await call(given());
    expect([answer.statusCode, answer.json<{ errors: unknown[] }>().errors]).toEqual([
      403,
      [expect.objectContaining({ code: 'internal_only' })],
    ]);
  });

  it('one that is older than a minute, or that much ahead', async () => {
    const given = own();
    await clock.advance(60_000);
    expect((await call(given)).statusCode).toBe(200);
    await clock.advance(1);
    expect((await call(given)).statusCode).toBe(403);
    const ahead = createInternalCredential(parseInternalSecrets(newSecret), {
      now: () => clock.now() + 60_001,
    });
    expect((await call(ahead.sign('GET', '/api/v1/payments'))).statusCode).toBe(403);
  });
});

it('rotates the secret without a gap: both are accepted, and the first one signs', () => {
  const both = credentialOf(`${newSecret},${oldSecret}`);
  for (const each of [credential, credentialOf(oldSecret), both])
    expect(both.isValid(each.sign('GET', '/x'), 'GET', '/x')).toBe(true);
  expect(both.sign('GET', '/x')).toMatch(/^new\./);
});
