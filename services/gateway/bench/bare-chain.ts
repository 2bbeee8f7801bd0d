/**
 * What a creation costs at least on EventStoreDB: a route that validates, appends, makes one HTTPS call, appends and answers,
 * with the bare client, and nothing else. A program of the bench; prints its address.
 */
import { readFileSync } from 'node:fs';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import Fastify from 'fastify';
import { Agent, request } from 'undici';
import { z } from 'zod';

const targetSchema = z.object({
  storePort: z.number(),
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

const endpoint = { address: '127.0.0.1', port: target.storePort };
const client = new EventStoreDBClient({ endpoint }, { insecure: true });
const dispatcher = new Agent({ connect: { ca: readFileSync(target.caFile, 'utf8') }, connections: 256 });
const headers = { authorization: `Bearer ${target.key}`, 'content-type': 'application/json' };

const app = Fastify();
app.post('/api/v1/payments', async ({ body }) => {
  const terms = bodySchema.parse(body);
  const stream = `bare-${terms.orderNumber}`;
  await client.appendToStream(stream, jsonEvent({ type: 'PaymentRequested', data: terms }), {
    expectedRevision: 'no_stream',
  });
  const called = await request(`${target.url}/api/v1/payments`, {
    ...{ method: 'POST', dispatcher, headers, body: JSON.stringify(terms) },
  });
  const answer = (await called.body.json()) as { token: string; processingUrl: string };
  await client.appendToStream(stream, jsonEvent({ type: 'AttemptAccepted', data: { ...answer } }), {
    expectedRevision: 0n,
  });
  return { success: true, ...answer };
});
process.stdout.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
process.once('SIGTERM', () => process.exit(0));
