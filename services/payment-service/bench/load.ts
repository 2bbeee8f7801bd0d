/** The load generator: a process of its own, which creates payments over keep-alive HTTPS when its parent asks for it. */
import { readFileSync } from 'node:fs';
import { connect, type TLSSocket } from 'node:tls';

export interface LoadTarget {
  url: string;
  caFile: string;
  key: string;
  connections: number;
}

export interface LoadResult {
  durationMs: number;
  medianMs: number;
  p99Ms: number;
}

/** One connection with one request under way at a time. HTTP by hand, so that the generator costs less than the service. */
interface Line {
  socket: TLSSocket;
  /** Sends a request and resolves with the whole answer. */
  exchange(request: string): Promise<string>;
}

function openLine(target: LoadTarget, ca: string): Promise<Line> {
  const { hostname, port } = new URL(target.url);
  const socket = connect({ host: hostname, port: Number(port), ca });
  let waiting: { resolve: (answer: string) => void; reject: (error: Error) => void } | undefined;
  let received = '';
  const fail = (error: Error) => waiting?.reject(error);
  socket.setNoDelay(true).setEncoding('utf8');
  socket.on('error', fail).on('close', () => fail(new Error('The service closed a connection.')));
  socket.on('data', (chunk: string) => {
    received += chunk;
    const headEnd = received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const length = Number(/^content-length: (\d+)/im.exec(received.slice(0, headEnd))?.[1]);
    // The answer to a creation is plain ASCII: characters are bytes.
    if (received.length < headEnd + 4 + length) return;
    const answer = received;
    received = '';
    waiting?.resolve(answer);
  });
  const exchange = (request: string) =>
    new Promise<string>((resolve, reject) => {
      waiting = { resolve, reject };
      socket.write(request);
    });
  return new Promise((resolve, reject) => {
    socket.once('secureConnect', () => resolve({ socket, exchange }));
    socket.once('error', reject);
  });
}

function toRequest({ url, key }: LoadTarget, number: number): string {
  const body = JSON.stringify({
    product: 'Tea',
    amount: 1250,
    currency: 'EUR',
    orderNumber: `bench-${number}`,
    callbackUrl: 'http://127.0.0.1:9/callbacks',
  });
  return `POST /api/v1/payments HTTP/1.1\r\nHost: ${new URL(url).host}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

async function createPayments(
  target: LoadTarget,
  lines: readonly Line[],
  { first, count }: { first: number; count: number },
): Promise<LoadResult> {
  const latencies = new Float64Array(count);
  let sent = 0;
  const work = async ({ exchange }: Line) => {
    while (sent < count) {
      const index = sent++;
      const startedAt = performance.now();
      const answer = await exchange(toRequest(target, first + index));
      latencies[index] = performance.now() - startedAt;
      if (!answer.startsWith('HTTP/1.1 200 ')) throw new Error(`A creation was answered: ${answer}`);
    }
  };
  const startedAt = performance.now();
  await Promise.all(lines.map(work));
  const durationMs = performance.now() - startedAt;
  latencies.sort();
  const quantile = (share: number) => latencies[Math.min(count - 1, Math.floor(count * share))] ?? 0;
  return { durationMs, medianMs: quantile(0.5), p99Ms: quantile(0.99) };
}

const target = JSON.parse(process.env['LOAD_TARGET'] ?? '{}') as LoadTarget;
const ca = readFileSync(target.caFile, 'utf8');
const lines = await Promise.all(Array.from({ length: target.connections }, () => openLine(target, ca)));
process.on('message', (order: { first: number; count: number }) => {
  void createPayments(target, lines, order).then((result) => process.send?.(result));
});
process.on('disconnect', () => lines.forEach(({ socket }) => socket.destroy()));
process.send?.('ready');
