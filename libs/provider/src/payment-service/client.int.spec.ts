import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createSecureServer } from 'node:http2';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { type Clock, systemClock } from '@tollgate/service-kit';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Provider } from '@tollgate/core';
import type { PaymentServiceClientOptions } from './client-options.ts';
import { createPaymentService } from './payment-service.ts';
import {
  createAuthority,
  issue,
  json,
  rawAnswer,
  reset,
  startHttpsPeer,
  type Behavior,
  type Certificate,
  type HttpsPeer,
} from '../testing/https-peer.ts';

const key = 'sk_sandbox_0123456789abcdef';
const creation = {
  product: 'Coffee',
  amount: 450,
  currency: 'EUR',
  callbackUrl: 'https://gateway.example/callbacks',
  orderNumber: 'pay_1.1',
};
const request = { ...creation, isCaptureDeferred: false, isRecurring: false };
const payment = { token: 'token-1', status: 'pending', amount: 450, currency: 'EUR', orderNumber: 'pay_1.1' };
const created = json(200, { success: true, token: 'token-1', payment });

const pay = (provider: Provider, orderNumber = 'pay_1.1') =>
  provider.authorize({ ...request, orderNumber }, () => true);

let authority: Certificate;
let certificate: Certificate;
let cleanups: (() => Promise<void>)[] = [];

beforeAll(async () => {
  authority = await createAuthority('Ours');
  certificate = await issue(authority);
});
afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

async function startPeer(...behaviors: Behavior[]): Promise<HttpsPeer> {
  const peer = await startHttpsPeer(certificate, created);
  cleanups.push(peer.close);
  peer.next(...behaviors);
  return peer;
}

/** One connection: a repeated request would arrive before the next one. */
function connect(baseUrl: string, options: Partial<PaymentServiceClientOptions> = {}): Provider {
  const client = createPaymentService({
    baseUrl,
    privateKey: { reveal: () => key },
    ca: authority.cert,
    clock: systemClock,
    maxConnections: 1,
    ...options,
  });
  cleanups.push(() => client.close());
  return client;
}

/** Deadlines that pass on command; the n-th call has the n-th deadline. */
function manualDeadlines(): { clock: Pick<Clock, 'after'>; expire: (call: number) => void } {
  const expiries: (() => void)[] = [];
  const clock: Pick<Clock, 'after'> = {
    after: (_durationMs, expire) => {
      const index = expiries.push(expire) - 1;
      return () => (expiries[index] = () => undefined);
    },
  };
  return { clock, expire: (call) => expiries[call]?.() };
}

/** A behavior that never answers, and the moment of its request. */
function silence(): { behavior: Behavior; arrived: Promise<unknown> } {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  return { behavior: () => resolve(undefined), arrived: promise };
}

async function listenOn(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}

const endlessBody: Behavior = ({ response }) => {
  const chunk = `"${'x'.repeat(64 * 1024)}"`;
  const write = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', write).writeHead(200);
  write();
};

describe('the requests', () => {
  it('a retrieval keeps any token inside its place in the path', async () => {
    const token = 'a/../b?c#d%2e ä';
    const peer = await startPeer(json(200, { success: true, payment: { ...payment, token } }));
    const outcome = await connect(`${peer.baseUrl}/tenant/`).inquirePayment(token);

    expect(outcome).toMatchObject({ kind: 'accepted', answer: { observed: { serviceToken: token } } });
    expect(peer.arrivals).toMatchObject([
      { method: 'GET', url: `/tenant/api/v1/payments/${encodeURIComponent(token)}`, body: '' },
    ]);
  });

  it('use HTTP/1.1 even if the peer offers HTTP/2, whose requests undici would queue again', async () => {
    const versions: string[] = [];
    const server = createSecureServer({ ...certificate, allowHTTP1: true }, (request, response) => {
      versions.push(request.httpVersion);
      response.end(JSON.stringify({ success: true, token: 'token-1' }));
    });
    cleanups.push(async () => void server.close());
    expect((await pay(connect(await listenOn(server)))).kind).toBe('accepted');
    expect(versions).toEqual(['1.1']);
  });

  it('trust the usual authorities in addition to the given one', async () => {
    const usual = getCACertificates('default');
    const usualAuthority = await createAuthority('Usual');
    const peer = await startHttpsPeer(await issue(usualAuthority), created);
    cleanups.push(peer.close);
    setDefaultCACertificates([usualAuthority.cert]);
    try {
      expect((await pay(connect(peer.baseUrl))).kind).toBe('accepted');
      expect((await pay(connect((await startPeer()).baseUrl))).kind).toBe('accepted');
    } finally {
      setDefaultCACertificates(usual);
    }
  });
});

describe('a sent request without a readable answer is unknown, and is sent once', () => {
  const answers: Record<string, [Behavior, string]> = {
    'reset without an answer': [reset, 'connection reset'],
    'closed without an answer': [({ request }) => void request.socket.end(), 'connection reset'],
    'reset inside the answer': [
      ({ response, tcp }) => response.writeHead(200).write('{"success":true,', () => tcp.resetAndDestroy()),
      'connection reset',
    ],
    'JSON shorter than its length': [
      rawAnswer('HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"success":true,"token":"token-1"}'),
      'connection reset',
    ],
    'JSON shorter than its length, on a closing connection': [
      rawAnswer(
        'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 500\r\n\r\n{"success":true,"token":"token-1"}',
      ),
      'body cut short',
    ],
    'JSON longer than its length': [
      rawAnswer('HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n{"success":true,"token":"token-1"}'),
      'http 200 without a readable body',
    ],
    'no HTTP': [rawAnswer('SSH-2.0-OpenSSH_9.9\r\n'), 'answer is not HTTP'],
    'a redirect': [
      ({ response, arrival }) => void response.writeHead(307, { location: arrival.url }).end(),
      'http 307 redirect',
    ],
    'an endless body': [endlessBody, 'body too large'],
    'a compressed body that was not requested': [
      ({ response }) =>
        void response
          .writeHead(200, { 'content-encoding': 'gzip' })
          .end(gzipSync(JSON.stringify({ success: true, token: 'token-1' }))),
      'http 200 without a readable body',
    ],
  };
  it.each(Object.entries(answers))('%s', async (_name, [behavior, reason]) => {
    const peer = await startPeer(behavior);
    const client = connect(peer.baseUrl);
    expect(await pay(client)).toEqual({ kind: 'unknown', reason });
    expect((await pay(client, 'next')).kind).toBe('accepted');
    expect(peer.arrivals.length).toBe(2);
    expect(peer.arrivals[1]?.body).toContain('"next"');
  });
});

describe('a connection that the peer closed while it was idle', () => {
  it('is used at most once for the next call, and the outcome shows whether', async () => {
    for (let round = 0; round < 20; round += 1) {
      const sockets: { end(): void; destroy(): void }[] = [];
      const peer = await startPeer((context) => {
        sockets.push(context.request.socket, context.tcp);
        created(context);
      });
      const client = connect(peer.baseUrl);
      await pay(client);
      if (round % 2 === 0) sockets[0]?.end();
      else sockets[1]?.destroy();

      const { kind } = await pay(client);
      const sentCount = peer.arrivals.length - 1;
      expect(['accepted', 'not-sent', 'unknown']).toContain(kind);
      expect(sentCount).toBeLessThanOrEqual(kind === 'not-sent' ? 0 : 1);
      if (kind === 'accepted') expect(sentCount).toBe(1);
    }
  });

  it('makes the next call unknown if it is reset on it, and the call is not sent again', async () => {
    const peer = await startPeer(created, reset);
    const client = connect(peer.baseUrl);
    await pay(client);
    expect(await pay(client)).toEqual({ kind: 'unknown', reason: 'connection reset' });
    expect((await pay(client)).kind).toBe('accepted');
    expect(peer.arrivals.length).toBe(3);
  });
});

describe('a request that never left is not-sent', () => {
  it('if the connection is refused', async () => {
    const server = createServer();
    const baseUrl = await listenOn(server);
    server.close();
    await once(server, 'close');
    expect(await pay(connect(baseUrl))).toEqual({
      kind: 'not-sent',
      reason: 'ECONNREFUSED',
    });
  });

  it('if the host name does not exist', async () => {
    const outcome = await pay(connect('https://nonexistent.invalid'));
    expect(outcome).toEqual({
      kind: 'not-sent',
      reason: expect.stringMatching(/^(ENOTFOUND|EAI_AGAIN|timeout)$/),
    });
  });

  it.each<[string, (socket: Socket) => unknown, RegExp]>([
    [
      'resets in the handshake',
      (socket) => socket.once('data', () => socket.resetAndDestroy()),
      /^connection reset$/,
    ],
    ['speaks no TLS', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'), /^(E|ERR_SSL_)[A-Z_]+$/],
    ['never finishes the handshake', () => undefined, /^(connect )?timeout$/],
  ])('if the peer %s', async (_what, behave, reason) => {
    const server = createServer((socket) => {
      cleanups.push(async () => void socket.destroy());
      behave(socket);
    });
    cleanups.push(async () => void server.close());
    expect(await pay(connect(await listenOn(server), { deadlineMs: 500 }))).toEqual({
      kind: 'not-sent',
      reason: expect.stringMatching(reason),
    });
  });

  const certificates: Record<string, [() => Promise<Certificate>, string]> = {
    'an unknown authority': [
      async () => issue(await createAuthority('Stranger')),
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ],
    itself: [() => issue('itself'), 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    'the right authority for another host': [
      () => issue(authority, { host: 'other.example' }),
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ],
    'the right authority, expired': [() => issue(authority, { expired: true }), 'CERT_HAS_EXPIRED'],
  };
  for (const [issuer, [make, reason]] of Object.entries(certificates)) {
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      it(`if the certificate is from ${issuer}, at the second try too (${maxVersion})`, async () => {
        const peer = await startHttpsPeer(await make(), created, { maxVersion });
        cleanups.push(peer.close);
        const client = connect(peer.baseUrl);
        for (let call = 0; call < 2; call += 1)
          expect(await pay(client)).toEqual({ kind: 'not-sent', reason });
        expect(peer.arrivals).toEqual([]);
      });
    }
  }

  it('even if verification is switched off in the environment', async () => {
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    const emitWarning = process.emitWarning.bind(process);
    process.emitWarning = () => {};
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      const peer = await startHttpsPeer(await issue(await createAuthority('Stranger')), created);
      cleanups.push(peer.close);
      expect((await pay(connect(peer.baseUrl))).kind).toBe('not-sent');
      expect(peer.arrivals).toEqual([]);
    } finally {
      process.emitWarning = emitWarning;
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    }
  });
});

describe('the deadline', () => {
  it('ends a sent request without an answer as unknown', async () => {
    const { behavior, arrived } = silence();
    const peer = await startPeer(behavior);
    const { clock, expire } = manualDeadlines();
    const client = connect(peer.baseUrl, { clock });

    const call = pay(client);
    await arrived;
    expire(0);
    expect(await call).toEqual({ kind: 'unknown', reason: 'timeout' });
    expect((await pay(client)).kind).toBe('accepted');
    expect(peer.arrivals.length).toBe(2);
  });

  it('spans the reading of the body', async () => {
    const { promise: started, resolve } = Promise.withResolvers<undefined>();
    const peer = await startPeer(
      ({ response }) => void response.writeHead(200).write('{"success":', () => resolve(undefined)),
    );
    const { clock, expire } = manualDeadlines();

    const call = connect(peer.baseUrl, { clock }).inquirePayment('token-1');
    await started;
    expire(0);
    expect(await call).toEqual({ kind: 'unknown', reason: 'timeout' });
  });

  it('ends a request that still waits for a connection as not-sent, and it is never sent', async () => {
    const { behavior, arrived } = silence();
    let answerFirst = () => {};
    const peer = await startPeer((context) => {
      answerFirst = () => created(context);
      behavior(context);
    });
    const { clock, expire } = manualDeadlines();
    const client = connect(peer.baseUrl, { clock });

    const first = pay(client);
    await arrived;
    const second = pay(client, 'second');
    const third = pay(client, 'third');
    expire(1);
    expect(await second).toEqual({ kind: 'not-sent', reason: 'timeout' });
    answerFirst();

    expect([(await first).kind, (await third).kind]).toEqual(['accepted', 'accepted']);
    expect(peer.arrivals.map((arrival) => JSON.parse(arrival.body) as unknown)).toMatchObject([
      { orderNumber: 'pay_1.1' },
      { orderNumber: 'third' },
    ]);
    expect(peer.connections()).toBe(1);
  });
});

describe('closing', () => {
  it('waits for the calls under way, and sends no later one', async () => {
    const { behavior, arrived } = silence();
    let answer = () => {};
    const peer = await startPeer((context) => {
      answer = () => created(context);
      behavior(context);
    });
    const client = connect(peer.baseUrl);
    const call = pay(client);
    await arrived;

    const closed = client.close();
    expect(await pay(client)).toEqual({ kind: 'not-sent', reason: 'client closed' });
    answer();
    expect((await call).kind).toBe('accepted');
    await Promise.all([closed, client.close()]);
    expect(peer.arrivals.length).toBe(1);
  });
});

describe('the options', () => {
  const make = (options: Omit<Partial<PaymentServiceClientOptions>, 'clock'>) => () =>
    createPaymentService({
      baseUrl: 'https://pay.example',
      privateKey: { reveal: () => key },
      clock: systemClock,
      ...options,
    });

  it('plain HTTP is refused', () => {
    expect(make({ baseUrl: 'http://pay.example' })).toThrow('must begin with https://');
  });

  it.each([
    { baseUrl: 'pay.example' },
    { baseUrl: 'https://user:pw@pay.example' },
    { baseUrl: 'https://pay.example?a=1' },
    { privateKey: { reveal: () => '' } },
    { privateKey: { reveal: () => `${key}\r\nx-injected: 1` } },
    { ca: 'no certificate' },
  ])('%j is refused, without repeating a value', (options) => {
    expect(make(options)).toThrow(expect.objectContaining({ code: 'payment_service_options_invalid' }));
    expect(make(options)).not.toThrow(/sk_|pw@/);
  });
});
