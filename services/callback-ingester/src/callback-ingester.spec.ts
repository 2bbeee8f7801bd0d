import { decodeCallbackRecord, providerCallbacksTopic } from '@tollgate/gateway-events';
import type { Message, MessageBus } from '@tollgate/message-bus';
import {
  TollgateError,
  answerInJsonOnly,
  callbackPath,
  httpServerOptions,
  parseCallbackSecrets,
  silentLog,
} from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import Fastify from 'fastify';
import { beforeEach, describe, expect, it } from 'vitest';
import { callbackBodyBytesMax, registerCallbackRoutes } from './callback-ingester.ts';

const secrets = parseCallbackSecrets(`new:${'n'.repeat(32)},old:${'o'.repeat(32)}`);
const path = callbackPath(secrets, 'sandbox', 'pay_1');
const body = JSON.stringify({ token: 'service-1', status: 'approved', orderNumber: 'pay_1.1' });

let published: { topic: string; messages: readonly Message[] }[];
let isBusUp: boolean;

beforeEach(() => {
  published = [];
  isBusUp = true;
});

function app() {
  const bus: Pick<MessageBus, 'publish'> = {
    async publish(topic, messages) {
      if (!isBusUp) throw new TollgateError('bus_unavailable', 'down', { retryable: true });
      published.push({ topic, messages });
    },
  };
  const server = Fastify(httpServerOptions({ bodyLimitBytes: callbackBodyBytesMax }));
  answerInJsonOnly(server, silentLog);
  registerCallbackRoutes(server, { bus, secrets, clock: createFakeClock(), log: silentLog });
  return server;
}

async function post(url: string, payload: string | Buffer = body, contentType = 'application/json') {
  const response = await app().inject({
    method: 'POST',
    url,
    payload,
    headers: { 'content-type': contentType },
  });
  const { errors } = response.json<{ errors?: { code: string }[] }>();
  return { statusCode: response.statusCode, codes: errors?.map(({ code }) => code) };
}

it('publishes a callback as it came, under the token of its path, and then answers 200', async () => {
  expect(await post(path)).toMatchObject({ statusCode: 200 });
  expect(published.map(({ topic }) => topic)).toEqual([providerCallbacksTopic]);
  const [message] = published[0]?.messages ?? [];
  expect(new TextDecoder().decode(message?.value)).toBe(body);
  expect(message === undefined ? undefined : decodeCallbackRecord(message)).toMatchObject({
    kind: 'callback',
    environment: 'sandbox',
    token: 'pay_1',
    body: { status: 'approved' },
  });
});

it('answers 503 when the bus does not have it: the service must send it again', async () => {
  isBusUp = false;
  expect(await post(path)).toEqual({ statusCode: 503, codes: ['bus_unavailable'] });
});

it('takes addresses that were made with the secret before the rotation', async () => {
  const [, old] = secrets;
  expect(await post(callbackPath(old === undefined ? [] : [old], 'sandbox', 'pay_1'))).toMatchObject({
    statusCode: 200,
  });
});

describe('turns away as if there were nothing', () => {
  const capability = path.split('/').at(-1) ?? '';
  const [, mac = ''] = capability.split('.');
  it.each([
    ['another token', `/callbacks/sandbox/pay_2/${capability}`],
    ['another environment', `/callbacks/production/pay_1/${capability}`],
    ['another kid', `/callbacks/sandbox/pay_1/old.${mac}`],
    ['an unknown kid', `/callbacks/sandbox/pay_1/none.${mac}`],
    ['a cut MAC', path.slice(0, -1)],
    ['a lengthened MAC', `${path}A`],
    ['no MAC', '/callbacks/sandbox/pay_1/new.'],
    ['a made-up MAC', `/callbacks/sandbox/pay_1/new.${'A'.repeat(43)}`],
    [
      'a capability that is not ASCII',
      `/callbacks/sandbox/pay_1/${encodeURIComponent(`new.${'ä'.repeat(43)}`)}`,
    ],
  ])('%s', async (_name, url) => {
    expect(await post(url)).toEqual({ statusCode: 404, codes: ['path_not_found'] });
    expect(published).toEqual([]);
  });
});

describe('refuses, and publishes nothing', () => {
  it.each([
    ['an array', '[]', 400, 'invalid_json'],
    ['a number', '1', 400, 'invalid_json'],
    ['half a body', '{"status":', 400, 'invalid_json'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 400, 'invalid_json'],
    ['an empty body', '', 400, 'invalid_json'],
    ['more than 16 KiB', JSON.stringify({ status: 'x'.repeat(callbackBodyBytesMax) }), 413, 'body_too_large'],
  ])('%s', async (_name, payload, statusCode, code) => {
    expect(await post(path, payload)).toEqual({ statusCode, codes: [code] });
    expect(published).toEqual([]);
  });

  it('a form', async () => {
    const answer = await post(path, 'status=approved', 'application/x-www-form-urlencoded');
    expect(answer).toEqual({ statusCode: 415, codes: ['unsupported_media_type'] });
    expect(published).toEqual([]);
  });
});

it('does not mind a body that names __proto__', async () => {
  expect(await post(path, '{"__proto__":{"polluted":true},"status":"approved"}')).toMatchObject({
    statusCode: 200,
  });
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});
