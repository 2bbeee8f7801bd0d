/** One HTTPS request and its answer: sent once or not at all, within one deadline, and it is known which. */
import type { Clock } from '@tollgate/service-kit';
import { Pool, type Dispatcher } from 'undici';
import type { SecureContext } from 'node:tls';
import type { MaySend } from '@tollgate/core';
import type { CallResult } from './classify.ts';
import type { Connections } from './client-options.ts';

export interface ExchangeRequest {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** A page of 500 payments, with every URL as long as the service allows, is half of it. */
const answerBytesMax = 8 * 1024 * 1024;

/**
 * How long an idle connection is kept, regardless of the peer's keep-alive. Shorter than the usual keep-alive of
 * servers and middleboxes, because a request on a connection that the peer has just closed ends as unknown.
 */
const idleConnectionMs = 4_000;

interface ExchangeOptions {
  origin: string;
  secureContext: SecureContext | undefined;
  deadlineMs: number;
  maxConnections: number;
  /** The source of the deadline. */
  clock: Pick<Clock, 'after'>;
  connections?: Connections | undefined;
}

/** Sends requests to one origin. */
export function createExchange(options: ExchangeOptions) {
  const { clock, deadlineMs } = options;
  const pool = options.connections ?? createPool(options);
  const underWay = new Set<Promise<CallResult>>();
  let closing: Promise<void> | undefined;

  return {
    /**
     * Never rejects.
     *
     * @param maySend called directly before the first byte is written
     * @param withinMs replaces the usual deadline
     */
    async send(request: ExchangeRequest, maySend: MaySend, withinMs = deadlineMs): Promise<CallResult> {
      if (closing !== undefined) return { kind: 'failed', sent: false, code: 'UND_ERR_CLOSED' };
      const result = exchangeOnce(pool, { request, maySend }, (expire) => clock.after(withinMs, expire));
      underWay.add(result);
      return result.finally(() => underWay.delete(result));
    },
    /** Waits for requests in progress (at most one deadline), then closes the connections. Later requests are not sent. */
    close: (): Promise<void> => (closing ??= Promise.all(underWay).then(() => pool.destroy())),
  };
}

/**
 * HTTP/1.1 with one request at a time per connection: undici resends a GET pipelined after a failed request, and an HTTP/2
 * stream that the peer abandons. Its
 * own time-outs are off, as none covers the whole exchange.
 */
function createPool(options: ExchangeOptions): Pool {
  return new Pool(options.origin, {
    connections: options.maxConnections,
    pipelining: 1,
    allowH2: false,
    connectTimeout: options.deadlineMs,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: idleConnectionMs,
    keepAliveMaxTimeout: idleConnectionMs,
    maxResponseSize: answerBytesMax,
    connect: {
      rejectUnauthorized: true, // Even with NODE_TLS_REJECT_UNAUTHORIZED=0.
      ...(options.secureContext === undefined ? {} : { secureContext: options.secureContext }),
    },
  });
}

/**
 * undici calls `onRequestStart` directly before it writes the first byte, on a connection with a completed handshake.
 * So a request that ends before that was provably not sent, regardless of the error. Throwing there prevents a request
 * from being written after its deadline, or a second time.
 */
function exchangeOnce(
  pool: Connections,
  { request, maySend }: { request: ExchangeRequest; maySend: MaySend },
  atDeadline: (expire: () => void) => () => void,
): Promise<CallResult> {
  return new Promise((resolve) => {
    let sending: Dispatcher.DispatchController | undefined;
    let isOver = false;
    let statusCode = 0;
    const chunks: Buffer[] = [];

    const end = (result: CallResult) => {
      isOver = true;
      cancelDeadline();
      resolve(result);
    };
    const fail = (code: string) => end({ kind: 'failed', sent: sending !== undefined, code });
    const cancelDeadline = atDeadline(() => {
      fail('DEADLINE');
      sending?.abort(new Error('deadline'));
    });

    pool.dispatch(request, {
      onRequestStart(controller) {
        if (isOver || sending !== undefined) throw new Error('too late, or already sent');
        if (!maySend()) throw Object.assign(new Error('too late'), { code: 'SEND_TIME_PASSED' });
        sending = controller;
      },
      onResponseStart: (_controller, code) => (statusCode = code),
      onResponseData: (_controller, chunk) => chunks.push(chunk),
      onResponseEnd: () => end({ kind: 'answered', statusCode, body: Buffer.concat(chunks) }),
      onResponseError: (_controller, error) => fail(codeOf(error)),
    });
  });
}

/** undici's parser errors carry no code, only their name. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.name === 'HTTPParserError' ? 'HPE_UNREADABLE' : '';
}
