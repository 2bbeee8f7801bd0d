/** Requests over keep-alive connections. HTTP by hand, so that the generator costs less than what it measures. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface LoadResult {
  count: number;
  perSecond: number;
  medianMs: number;
  p99Ms: number;
}

interface Line {
  socket: Socket;
  exchange(request: string): Promise<string>;
}

async function openLine(url: URL): Promise<Line> {
  const socket = connect({ host: url.hostname, port: Number(url.port) });
  let waiting: { resolve: (answer: string) => void; reject: (error: Error) => void } | undefined;
  let received = '';
  const fail = (error: Error) => waiting?.reject(error);
  socket.setNoDelay(true).setEncoding('utf8');
  socket.on('error', fail).on('close', () => fail(new Error('A connection was closed.')));
  socket.on('data', (chunk: string) => {
    received += chunk;
    const headEnd = received.indexOf('\r\n\r\n');
    const length = Number(/^content-length: (\d+)/im.exec(received.slice(0, headEnd))?.[1]);
    // The answers are plain ASCII: characters are bytes.
    if (headEnd < 0 || received.length < headEnd + 4 + length) return;
    const answer = received;
    received = '';
    waiting?.resolve(answer);
  });
  await once(socket, 'connect');
  const exchange = (request: string) =>
    new Promise<string>((resolve, reject) => {
      waiting = { resolve, reject };
      socket.write(request);
    });
  return { socket, exchange };
}

export interface Load {
  url: string;
  key: string;
  connections: number;
  durationMs: number;
  /** Creations a second; as many as there can be where it is absent. */
  perSecondMax?: number;
  /** Ends earlier, when so many were made. */
  countMax?: number;
}

/** Creates payments, and tells how fast; the last answer stands for all. */
export async function createPayments({
  url,
  key,
  connections,
  durationMs,
  perSecondMax = Infinity,
  countMax = Infinity,
}: Load): Promise<LoadResult & { lastAnswer: string }> {
  // In letters: digits in a row could be a card number.
  const run = `${process.pid}${performance.now().toFixed(0)}`.replaceAll(
    /\d/g,
    (digit) => 'abcdefghij'[Number(digit)] ?? '',
  );
  const lines = await Promise.all(Array.from({ length: connections }, () => openLine(new URL(url))));
  const latencies: number[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + durationMs;
  let sent = 0;
  let lastAnswer = '';
  await Promise.all(
    lines.map(async ({ socket, exchange }) => {
      while (performance.now() < endsAt && sent < countMax) {
        const number = sent++;
        const dueAt = startedAt + (1_000 * number) / perSecondMax;
        if (dueAt >= endsAt) break;
        const waitMs = dueAt - performance.now();
        if (waitMs > 1) await new Promise((resolve) => setTimeout(resolve, waitMs));
        const sentAt = performance.now();
        lastAnswer = await exchange(toRequest(url, key, `${run}-${number}`));
        latencies.push(performance.now() - sentAt);
        if (!lastAnswer.startsWith('HTTP/1.1 200 '))
          throw new Error(`A creation was answered: ${lastAnswer}`);
      }
      socket.destroy();
    }),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  latencies.sort((one, other) => one - other);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  const { length: count } = latencies;
  return { count, perSecond: count / seconds, medianMs: at(0.5), p99Ms: at(0.99), lastAnswer };
}

function toRequest(url: string, key: string, orderNumber: string): string {
  const body = JSON.stringify({ product: 'Tea', amount: 1250, currency: 'EUR', orderNumber });
  return `POST /api/v1/payments HTTP/1.1\r\nHost: ${new URL(url).host}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}
