/**
 * The minimum cost of a creation: a route that validates, appends durably, makes one HTTPS call, appends and answers, and
 * nothing else. The appends go to a SQLite file, or to EventStoreDB with its bare client. A
 * program of the bench; prints its address.
 */
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import Fastify from 'fastify';
import { Agent, request } from 'undici';
import { z } from 'zod';

const targetSchema = z.object({
  /** Of EventStoreDB; absent: `file`. */
  storePort: z.number().optional(),
  file: z.string(),
  url: z.string(),
  caFile: z.string(),
  key: z.string(),
});
const target = targetSchema.parse(JSON.parse(process.argv[2] ?? '{}'));
const bodySchema = z.object({
  product: z.string(),
  amount: z.int(),
  currency: z.string().length(3),
  orderNumber: z.string(),
});

type Append = (stream: string, revision: number, type: string, data: object) => Promise<void>;

function appendTo(port: number): Append {
  const client = new EventStoreDBClient({ endpoint: { address: '127.0.0.1', port } }, { insecure: true });
  return async (stream, revision, type, data) => {
    const expectedRevision = revision === 0 ? 'no_stream' : BigInt(revision - 1);
    await client.appendToStream(stream, jsonEvent({ type, data: { ...data } }), { expectedRevision });
  };
}

function appendToFile(): Append {
  const log = new Worker(new URL('./bare-log.ts', import.meta.url), { workerData: target.file });
  let waiting: { event: [string, number, string]; resolve: () => void }[] = [];
  let underWay: typeof waiting = [];
  const send = () => {
    if (underWay.length > 0 || waiting.length === 0) return;
    [underWay, waiting] = [waiting, []];
    log.postMessage(underWay.map(({ event }) => event));
  };
  log.on('message', () => {
    for (const { resolve } of underWay) resolve();
    underWay = [];
    send();
  });
  return (stream, revision, type, data) =>
    new Promise((resolve) => {
      waiting.push({ event: [stream, revision, JSON.stringify({ type, data })], resolve });
      if (waiting.length === 1) queueMicrotask(send);
    });
}

const append = target.storePort === undefined ? appendToFile() : appendTo(target.storePort);
const dispatcher = new Agent({ connect: { ca: readFileSync(target.caFile, 'utf8') }, connections: 256 });
const headers = { authorization: `Bearer ${target.key}`, 'content-type': 'application/json' };

const app = Fastify();
app.post('/api/v1/payments', async ({ body }) => {
  const terms = bodySchema.parse(body);
  const stream = `bare-${terms.orderNumber}`;
  await append(stream, 0, 'PaymentRequested', terms);
  const called = await request(`${target.url}/api/v1/payments`, {
    method: 'POST',
    dispatcher,
    headers,
    body: JSON.stringify(terms),
  });
  const answer = (await called.body.json()) as { token: string; processingUrl: string };
  await append(stream, 1, 'AttemptAccepted', answer);
  return { success: true, ...answer };
});
process.stdout.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
process.once('SIGTERM', () => process.exit(0));
