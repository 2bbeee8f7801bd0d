import type { Message, MessageBus } from '@tollgate/message-bus';
import { TollgateError, answerInJsonOnly, httpServerOptions, silentLog } from '@tollgate/service-kit';
import { callbackPath, parseCallbackSecrets } from '@tollgate/provider/callbacks';
import { createFakeClock, eventually, propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import Fastify from 'fastify';
import { beforeEach, describe, expect, it } from 'vitest';
import { callbackBodyBytesMax, registerCallbackRoutes } from './callback-ingester.ts';
import { decodeCallbackRecord, providerCallbacksTopic } from '@tollgate/gateway-api';

const secrets = parseCallbackSecrets(`new:${'n'.repeat(32)},old:${'o'.repeat(32)}`);
const clock = createFakeClock();
const issuedAt = clock.now();
const dayMs = 24 * 3_600_000;
const lifetimeMs = 400 * dayMs;
const path = callbackPath(secrets, 'sandbox', 'pay_1', issuedAt);
const body = JSON.stringify({ token: 'service-1', status: 'approved', orderNumber: 'pay_1.1' });

let published: { topic: string; messages: readonly Message[] }[];
let isBusUp: boolean;

beforeEach(() => {
  published = [];
  isBusUp = true;
});

function app(changes: Partial<Pick<MessageBus, 'publish'>> = {}) {
  const bus: Pick<MessageBus, 'publish'> = {
    async publish(topic, messages) {
      if (!isBusUp) throw new TollgateError('bus_unavailable', 'down', { retryable: true });
      published.push({ topic, messages });
    },
    ...changes,
  };
  const server = Fastify(httpServerOptions({ bodyLimitBytes: callbackBodyBytesMax }));
  answerInJsonOnly(server, silentLog);
  registerCallbackRoutes(server, { bus, secrets, lifetimeMs, clock, log: silentLog });
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

const textOf = (index = 0) => new TextDecoder().decode(published[index]?.messages[0]?.value);

it('publishes the readable part of a callback, under the token of its path, and then answers 200', async () => {
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

it('answers 503 if the bus does not have it: the service must send it again', async () => {
  isBusUp = false;
  expect(await post(path)).toEqual({ statusCode: 503, codes: ['bus_unavailable'] });
  const response = await app().inject({ method: 'POST', url: path, payload: JSON.parse(body) });
  expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
});

it('answers 200 no earlier than the bus has it, and 503 if that takes too long', async () => {
  const storing = Promise.withResolvers<undefined>();
  let answered = 0;
  const send = (publish: MessageBus['publish']) =>
    app({ publish })
      .inject({ method: 'POST', url: path, payload: JSON.parse(body) })
      .then(({ statusCode }) => {
        answered += 1;
        return statusCode;
      });
  const stored = send(async () => storing.promise);
  await eventually(() => expect(clock.sleeperCount()).toBe(1));
  expect(answered).toBe(0);
  storing.resolve(undefined);
  expect(await stored).toBe(200);
  expect(clock.sleeperCount()).toBe(0);
  const late = send(() => new Promise(() => undefined));
  await eventually(() => expect(clock.sleeperCount()).toBe(1));
  await clock.advance(10_000);
  expect(await late).toBe(503);
});

it('accepts URLs made with the secret before the rotation', async () => {
  const [, old] = secrets;
  expect(
    await post(callbackPath(old === undefined ? [] : [old], 'sandbox', 'pay_1', issuedAt)),
  ).toMatchObject({
    statusCode: 200,
  });
});

describe('a callback URL expires', () => {
  const madeBefore = (days: number) => callbackPath(secrets, 'sandbox', 'pay_1', clock.now() - days * dayMs);

  it('some hundred days after its payment was made', async () => {
    expect(await post(madeBefore(399))).toMatchObject({ statusCode: 200 });
    expect(await post(madeBefore(401))).toEqual({ statusCode: 410, codes: ['callback_address_ended'] });
    expect(published).toHaveLength(1);
  });

  it('and cannot be extended; a caller without a valid URL learns nothing', async () => {
    const [kid, day, mac] = madeBefore(401).split('/').at(-1)?.split('.') ?? [];
    const later = `/callbacks/sandbox/pay_1/${kid}.${Number(day) + 300}.${mac}`;
    expect(await post(later)).toEqual({ statusCode: 404, codes: ['path_not_found'] });
  });
});

describe('of many callbacks at one address', () => {
  const sendAll = (bodies: string[]) => {
    const server = app();
    const headers = { 'content-type': 'application/json' };
    return Promise.all(
      bodies.map((payload) => server.inject({ method: 'POST', url: path, payload, headers })),
    );
  };

  it('its maximum number is stored, and later ones are rejected for now', async () => {
    const bodies = Array.from({ length: 100 }, (_, number) => JSON.stringify({ number }));
    const answers = await sendAll(bodies);
    expect(published).toHaveLength(30);
    const refused = answers.filter(({ statusCode }) => statusCode === 429);
    expect(refused).toHaveLength(70);
    expect(refused[0]?.headers['retry-after']).toBe('20');
    expect(refused[0]?.json()).toMatchObject({ errors: [{ code: 'too_many_callbacks' }] });
  });

  // The specification shows only an order number and a status. Two refunds of one amount are two callbacks of the same bytes,
  // and the second one was dropped for ten
  // minutes.
  it('equal ones are stored each', async () => {
    const answers = await sendAll([body, body]);
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    expect(published).toHaveLength(2);
  });
});

describe('answers 404 to', () => {
  const capability = path.split('/').at(-1) ?? '';
  const [, day = '', mac = ''] = capability.split('.');
  it.each([
    ['another token', `/callbacks/sandbox/pay_2/${capability}`],
    ['another environment', `/callbacks/production/pay_1/${capability}`],
    ['another kid', `/callbacks/sandbox/pay_1/old.${day}.${mac}`],
    ['an unknown kid', `/callbacks/sandbox/pay_1/none.${day}.${mac}`],
    ['a cut MAC', path.slice(0, -1)],
    ['a lengthened MAC', `${path}A`],
    ['no MAC', `/callbacks/sandbox/pay_1/new.${day}.`],
    ['a made-up MAC', `/callbacks/sandbox/pay_1/new.${day}.${'A'.repeat(43)}`],
    [
      'a capability that is not ASCII',
      `/callbacks/sandbox/pay_1/${encodeURIComponent(`new.${day}.${'ä'.repeat(43)}`)}`,
    ],
  ])('%s', async (_name, url) => {
    expect(await post(url)).toEqual({ statusCode: 404, codes: ['path_not_found'] });
    expect(published).toEqual([]);
  });
});

// A callback is a hint, and its URL identifies the subject. A genuine one was refused for its body, which is never trusted.
describe('accepts a callback with any body, and stores nothing that it cannot read', () => {
  it.each([
    ['an array', '[]'],
    ['a number', '1'],
    ['half a body', '{"status":'],
    ['bytes of ISO 8859-1', Buffer.from('{"status":"größer"}', 'latin1')],
    ['compressed bytes', Buffer.from('1f8b0800', 'hex')],
    ['nothing', ''],
    ['a form', 'status=approved', 'application/x-www-form-urlencoded'],
    ['a type that is none', 'x', 'json'],
    ['a type without a name', 'x', ''],
    ['XML', '<status>approved</status>', 'text/xml; charset=ISO-8859-1'],
  ])('%s', async (_name, payload, contentType = 'application/json') => {
    expect(await post(path, payload, contentType)).toMatchObject({ statusCode: 200 });
    expect(textOf()).toBe('{}');
    expect(decodeCallbackRecord(published[0]!.messages[0]!)).toMatchObject({
      kind: 'callback',
      token: 'pay_1',
    });
  });

  it('JSON with any content type', async () => {
    expect(await post(path, body, 'text/plain; charset=utf-16')).toMatchObject({ statusCode: 200 });
    expect(textOf()).toBe(body);
  });

  it('without a content type or a body', async () => {
    expect((await app().inject({ method: 'POST', url: path })).statusCode).toBe(200);
    expect(textOf()).toBe('{}');
  });

  it('but more than 16 KiB, which are refused', async () => {
    const large = JSON.stringify({ status: 'x'.repeat(callbackBodyBytesMax) });
    expect(await post(path, large)).toEqual({ statusCode: 413, codes: ['body_too_large'] });
    expect(published).toEqual([]);
  });
});

it.each([
  ['a body that names __proto__', '{"__proto__":{"polluted":true},"status":"approved"}', 'application/json'],
  ['a declared character set', body, 'application/json; charset=utf-8'],
  [
    'duplicate keys, of which the last one counts',
    '{"status":"declined","status":"approved"}',
    'application/json',
  ],
])('accepts %s', async (_name, payload, type) => {
  expect(await post(path, payload, type)).toMatchObject({ statusCode: 200 });
  expect(decodeCallbackRecord(published[0]!.messages[0]!)).toMatchObject({ body: { status: 'approved' } });
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

it('accepts the maximum size, with the deepest nesting that fits', async () => {
  const deep = `{"a":${'['.repeat(8_000)}${']'.repeat(8_000)}}`;
  expect(await post(path, deep)).toMatchObject({ statusCode: 200 });
  const empty = '{"status":""}';
  const large = `{"status":"${'x'.repeat(callbackBodyBytesMax - empty.length)}"}`;
  expect(await post(path, large)).toMatchObject({ statusCode: 200 });
});

describe('of a callback with chargeable data', () => {
  const card = '4392963203551251';
  const fields = {
    token: 's-1',
    type: 'payment',
    status: 'approved',
    orderNumber: 'pay_1.1',
    amount: 5,
    currency: 'EUR',
  };
  it.each([
    ['in a field', JSON.stringify({ ...fields, card })],
    ['as a number', JSON.stringify({ ...fields, card: Number(card) })],
    ['deep inside', JSON.stringify({ ...fields, a: [{ b: [`paid by ${card}`] }] })],
    ['as a name', JSON.stringify({ ...fields, [card]: 1 })],
    ['in groups', JSON.stringify({ ...fields, card: '4392 9632 0355 1251' })],
    ['behind escapes', JSON.stringify({ ...fields, card }).replace(card, `\\u0034${card.slice(1)}`)],
    [
      'behind escapes as a name',
      JSON.stringify({ ...fields, [card]: 1 }).replace(card, `\\u0034${card.slice(1)}`),
    ],
    ['over lines', JSON.stringify({ ...fields, card: '4392\n9632\n0355\n1251' })],
    ['under a duplicate key', `{"note":"${card}",${JSON.stringify({ ...fields, note: 'x' }).slice(1)}`],
    ['under __proto__', `{"__proto__":"${card}",${JSON.stringify(fields).slice(1)}`],
    ['as the token that charges a card again', JSON.stringify({ ...fields, recurringToken: 'rt-1251' })],
  ])('%s, only the fields that are read are kept, and it is marked', async (_name, payload) => {
    expect(await post(path, payload)).toMatchObject({ statusCode: 200 });
    expect(JSON.parse(textOf())).toEqual(fields);
    expect(textOf()).not.toMatch(/4392|1251|\\u0034/);
    expect(published[0]?.messages[0]?.headers).toMatchObject({ redacted: 'true' });
  });

  it('in a field that is read, is removed as well', async () => {
    await post(path, JSON.stringify({ ...fields, orderNumber: card, status: { deep: card } }));
    const { orderNumber: _, status: __, ...others } = fields;
    expect(JSON.parse(textOf())).toEqual(others);
  });

  it('masked, it is a callback like others', async () => {
    await post(path, JSON.stringify({ ...fields, sanitizedMask: '439296******1251' }));
    expect(JSON.parse(textOf())).toEqual(fields);
    expect(published[0]?.messages[0]?.headers).not.toHaveProperty('redacted');
  });
});

// A topic is never purged, and a callback may contain any customer data.
it('keeps nothing that is not read, and of that no text without end', async () => {
  const personal = { email: 'ada@example.com', customer: { ip: '203.0.113.77' }, holder: 'Ada Lovelace' };
  await post(path, JSON.stringify({ status: 'x'.repeat(10_000), ...personal }));
  expect(JSON.parse(textOf())).toEqual({ status: 'x'.repeat(256) });
});

it('any request to any address is answered, and never with an internal error', async () => {
  const server = app();
  const part = fc.oneof(fc.constantFrom('sandbox', 'pay_1', '__proto__', '%00', '..'), fc.string());
  const address = fc.oneof(
    fc.constant(path),
    fc
      .array(part, { minLength: 2, maxLength: 5 })
      .map((parts) => `/callbacks/${parts.map(encodeURI).join('/')}`),
  );
  const payload = fc.oneof(
    fc.jsonValue().map((value) => JSON.stringify(value)),
    fc.constantFrom('', '{', '[]', '{"a":1,"a":2}', '{"__proto__":{"x":1}}', '['.repeat(5_000)),
    fc.string({ unit: 'binary' }),
  );
  const type = fc.constantFrom('application/json', 'text/plain', '', 'application/json; charset=utf-99');
  await fc.assert(
    fc.asyncProperty(address, payload, type, async (url, text, contentType) => {
      const headers = { 'content-type': contentType };
      const { statusCode } = await server.inject({ method: 'POST', url, payload: text, headers });
      expect(statusCode).toBeLessThan(500);
    }),
    { numRuns: propertyRuns(300) },
  );
});
