import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { expect, it } from 'vitest';
import { compressAnswers } from './compress-answers.ts';

const text = 'Tea for two. '.repeat(500);

function start() {
  const app = Fastify();
  compressAnswers(app);
  app.get('/text', async (_request, reply) => reply.type('text/html').send(text));
  app.get('/short', async (_request, reply) => reply.type('text/html').send('Tea'));
  app.get('/tagged', async (_request, reply) => reply.type('text/html').header('etag', '"1"').send(text));
  app.get('/bytes', async (_request, reply) => reply.type('application/zip').send(Buffer.from(text)));
  return (url: string, accepted?: string) =>
    app.inject({ url, headers: accepted === undefined ? {} : { 'accept-encoding': accepted } });
}

it.each([
  ['gzip, deflate, br', 'br'],
  ['gzip;q=0.8', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0', undefined],
  ['brotli', undefined],
  [undefined, undefined],
])('a client that accepts %s gets %s', async (accepted, encoding) => {
  const answer = await start()('/text', accepted);
  expect(answer.headers['content-encoding']).toBe(encoding);
  expect(answer.headers.vary).toBe('Accept-Encoding');
  const decode = { br: brotliDecompressSync, gzip: gunzipSync }[encoding ?? ''] ?? ((bytes: Buffer) => bytes);
  expect(decode(answer.rawPayload).toString()).toBe(text);
  expect(Number(answer.headers['content-length'])).toBe(answer.rawPayload.length);
});

it.each(['/short', '/tagged', '/bytes'])('%s is left as it is', async (url) => {
  expect((await start()(url, 'br')).headers).not.toHaveProperty('content-encoding');
});
