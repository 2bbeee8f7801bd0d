/**
 * As little of a Payment Service as a gateway can be measured against: it keeps what it was asked for in memory, answers at
 * once, and never refuses. A program of the bench; prints where it is, and what its clients need.
 */
import { createServer } from 'node:https';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { ensureServerCertificate } from '../src/certificates.ts';

const dir = process.argv[2] ?? '.';
const { key, cert, caFile } = await ensureServerCertificate(join(dir, 'tls'), Date.now());

interface Created {
  token: string;
  status: string;
  amount: number;
  currency: string;
  orderNumber: string;
  callbackUrl: string;
}

const byToken = new Map<string, Created>();
let count = 0;

function create(body: string): object {
  const { amount, currency, orderNumber, callbackUrl } = JSON.parse(body) as Created;
  const token = `service-${(count += 1)}`;
  byToken.set(token, { token, status: 'init', amount, currency, orderNumber, callbackUrl });
  const payment = { amount, currency, status: 'init' };
  return { success: true, token, processingUrl: `https://127.0.0.1/pay/${token}`, payment };
}

interface Approval {
  /** The oldest of those that are not approved. */
  count: number;
  connections: number;
}

/** Approves payments and tells so by their callbacks, as fast as they are taken; again where one is not. */
async function approve({ count, connections }: Approval): Promise<object> {
  const waiting = [...byToken.values()].filter(({ status }) => status === 'init').slice(0, count);
  const startedAt = performance.now();
  let refused = 0;
  const agent = new Agent({ connections, pipelining: 1 });
  const next = waiting.values();
  const post = async () => {
    for (const payment of next) {
      payment.status = 'approved';
      const { token, status, orderNumber, amount, currency, callbackUrl } = payment;
      const body = JSON.stringify({ token, type: 'payment', status, orderNumber, amount, currency });
      const headers = { 'content-type': 'application/json' };
      for (;;) {
        const answer = await request(callbackUrl, { method: 'POST', dispatcher: agent, headers, body });
        await answer.body.dump();
        if (answer.statusCode === 200) break;
        refused += 1;
        await pause(20);
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, post));
  await agent.close();
  return { approved: waiting.length, refused, tookMs: performance.now() - startedAt };
}

const times = { createdAt: new Date().toISOString(), updatedAt: new Date().toISOString() };

function find(url: URL): object {
  const orderNumber = url.searchParams.get('orderNumber');
  if (orderNumber !== null)
    return {
      success: true,
      payments: [...byToken.values()]
        .filter((each) => each.orderNumber === orderNumber)
        .map((each) => ({ ...each, ...times })),
    };
  const payment = byToken.get(url.pathname.split('/').at(-1) ?? '');
  if (payment === undefined)
    return { success: false, errors: [{ code: 'payment_not_found', kind: 'invalid_request_error' }] };
  return { success: true, payment: { ...payment, ...times } };
}

const server = createServer({ key, cert, keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
  const answer = (body: object) => {
    const text = JSON.stringify(body);
    outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length }).end(text);
  };
  if (incoming.method === 'GET') return answer(find(new URL(incoming.url ?? '/', 'https://service')));
  let body = '';
  incoming
    .setEncoding('utf8')
    .on('data', (chunk: string) => (body += chunk))
    .on('end', () => {
      if (incoming.url !== '/bench/approve') return answer(create(body));
      return void approve(JSON.parse(body) as Approval).then(answer);
    });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  process.stdout.write(`${JSON.stringify({ url: `https://127.0.0.1:${port}`, caFile, key: 'sk_bench' })}\n`);
});
process.once('SIGTERM', () => process.exit(0));
