/** Requests over keep-alive connections. Hand-written HTTP, so that the generator costs less than its subject. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface LoadResult {
  count: number;
  perSecond: number;
  medianMs: number;
  p99Ms: number;
}

interface Line {
  exchange(request: string): Promise<string>;
  close(): void;
}

/** Connects for the first request, and again once the server has closed the connection: it closes idle ones. */
function createLine(url: URL): Line {
  let connection: Connection | undefined;
  return {
    async exchange(request) {
      if (connection === undefined || connection.socket.destroyed) connection = await openConnection(url);
      return connection.exchange(request);
    },
    close: () => void connection?.socket.destroy(),
  };
}

type Connection = Pick<Line, 'exchange'> & { socket: Socket };

async function openConnection(url: URL): Promise<Connection> {
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

interface Pace {
  url: string;
  connections: number;
  durationMs: number;
}

export interface Load extends Pace {
  key: string;
  /** Ends earlier after this many. */
  countMax?: number;
}

/**
 * Sends the results of `next` until it returns none or the time is over, and measures the rate; the last answer represents all.
 *
 * @throws if an answer is not 200
 */
export async function sendAll(
  { url, connections, durationMs }: Pace,
  next: (number: number) => string | undefined,
  onAnswer?: (answer: string) => void,
): Promise<LoadResult & { lastAnswer: string }> {
  const lines = Array.from({ length: connections }, () => createLine(new URL(url)));
  const latencies: number[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + durationMs;
  let sent = 0;
  let lastAnswer = '';
  await Promise.all(
    lines.map(async ({ exchange, close }) => {
      while (performance.now() < endsAt) {
        const number = sent++;
        const text = next(number);
        if (text === undefined) break;
        const sentAt = performance.now();
        lastAnswer = await exchange(text);
        latencies.push(performance.now() - sentAt);
        if (!lastAnswer.startsWith('HTTP/1.1 200 '))
          throw new Error(`${text.split('\r\n')[0]} was answered: ${lastAnswer}`);
        onAnswer?.(lastAnswer);
      }
      close();
    }),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  latencies.sort((one, other) => one - other);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  const { length: count } = latencies;
  return { count, perSecond: count / seconds, medianMs: at(0.5), p99Ms: at(0.99), lastAnswer };
}

/** Creates hosted payments. */
export function createPayments({ key, countMax = Infinity, ...pace }: Load) {
  const orderNumber = newOrderNumbers();
  const terms = { product: 'Tea', amount: 1250, currency: 'EUR' };
  return sendAll(pace, (number) =>
    number < countMax
      ? post(pace.url, {
          key,
          path: '/api/v1/payments',
          body: { ...terms, orderNumber: orderNumber() },
        })
      : undefined,
  );
}

/** A new one for each call. In letters: digits in a row could be a card number. */
export function newOrderNumbers(): () => string {
  const run = `${process.pid}${performance.now().toFixed(0)}`.replaceAll(
    /\d/g,
    (digit) => 'abcdefghij'[Number(digit)] ?? '',
  );
  let count = 0;
  return () => `${run}-${(count += 1)}`;
}

interface Call {
  key: string;
  path: string;
}

export function post(
  url: string,
  { key, path, body, idempotencyKey }: Call & { body: object; idempotencyKey?: string },
): string {
  const text = JSON.stringify(body);
  const repeat = idempotencyKey === undefined ? '' : `\r\nIdempotency-Key: ${idempotencyKey}`;
  return `POST ${path} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nAuthorization: Bearer ${key}${repeat}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
}

export const get = (url: string, { key, path }: Call): string =>
  `GET ${path} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nAuthorization: Bearer ${key}\r\n\r\n`;
