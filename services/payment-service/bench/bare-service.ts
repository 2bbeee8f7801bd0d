/**
 * The minimal Payment Service for gateway benchmarks: it keeps requests in memory, answers at once, and never refuses.
 * Prints its address and the settings its clients need.
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
  heldAmount?: number;
  refundedAmount?: number;
  recurringToken?: string;
}

interface CreationRequest extends Created {
  card?: object;
  recurringToken?: string;
  recurring?: boolean;
  needConfirmation?: boolean;
}

const callbacks = new Agent({ connections: 16 });
const byToken = new Map<string, Created>();
let count = 0;

/**
 * A hosted payment waits for its customer. A payment by card or recurring token is approved, or authorized, at once.
 */
function create(request: CreationRequest): object {
  const { amount, currency, orderNumber, callbackUrl, needConfirmation } = request;
  const token = `service-${(count += 1)}`;
  const isPaid = request.card !== undefined || request.recurringToken !== undefined;
  const payment: Created = {
    token,
    status: isPaid ? (needConfirmation ? 'pending' : 'approved') : 'init',
    amount,
    currency,
    orderNumber,
    callbackUrl,
    heldAmount: isPaid && needConfirmation ? amount : 0,
    ...(request.recurring ? { recurringToken: `recurring-${count}` } : {}),
  };
  byToken.set(token, payment);
  // Authorizations are only reported by callback.
  if (payment.heldAmount) void callBack(payment, callbacks);
  const page = isPaid ? {} : { processingUrl: `https://127.0.0.1/pay/${token}` };
  return { success: true, token, ...page, payment: { amount, currency, status: payment.status } };
}

/** Resolves with true if the callback was accepted. */
async function callBack(payment: Created, dispatcher: Agent): Promise<boolean> {
  const { token, status, orderNumber, amount, currency, callbackUrl } = payment;
  const body = JSON.stringify({ token, type: 'payment', status, orderNumber, amount, currency });
  const headers = { 'content-type': 'application/json' };
  const answer = await request(callbackUrl, { method: 'POST', dispatcher, headers, body });
  await answer.body.dump();
  return answer.statusCode === 200;
}

const notFound = { success: false, errors: [{ code: 'payment_not_found', kind: 'invalid_request_error' }] };

function confirm({ token }: { token: string }): object {
  const payment = byToken.get(token);
  if (payment === undefined) return notFound;
  Object.assign(payment, { status: 'approved', heldAmount: 0 });
  return { success: true, token, payment: { ...payment, ...times } };
}

function refund({ token, amount }: { token: string; amount?: number }): object {
  const payment = byToken.get(token);
  if (payment === undefined) return notFound;
  const back = amount ?? payment.amount;
  payment.refundedAmount = (payment.refundedAmount ?? 0) + back;
  if (payment.refundedAmount === payment.amount) payment.status = 'refunded';
  const refundToken = `refund-${(count += 1)}`;
  const { currency } = payment;
  return {
    success: true,
    token: refundToken,
    refund: { token: refundToken, amount: back, currency, status: 'approved' },
    payment: { token },
  };
}

interface Approval {
  /** Number of payments to approve, oldest first. */
  count: number;
  connections: number;
}

/** Approves payments and sends their callbacks as fast as they are accepted; failed callbacks are repeated. */
async function approve({ count, connections }: Approval): Promise<object> {
  const waiting = [...byToken.values()].filter(({ status }) => status === 'init').slice(0, count);
  const startedAt = performance.now();
  let refused = 0;
  const agent = new Agent({ connections, pipelining: 1 });
  const next = waiting.values();
  const post = async () => {
    for (const payment of next) {
      payment.status = 'approved';
      while (!(await callBack(payment, agent))) {
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
  if (payment === undefined) return notFound;
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
      const said = JSON.parse(body) as CreationRequest & Approval;
      if (incoming.url === '/bench/approve') return void approve(said).then(answer);
      if (incoming.url === '/api/v1/payments/confirm') return answer(confirm(said));
      return answer(incoming.url === '/api/v1/refunds' ? refund(said) : create(said));
    });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  process.stdout.write(`${JSON.stringify({ url: `https://127.0.0.1:${port}`, caFile, key: 'sk_bench' })}\n`);
});
process.once('SIGTERM', () => process.exit(0));
