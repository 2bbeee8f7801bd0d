import { type connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { readFile } from 'node:fs/promises';
import { StartupError, silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureServerCertificate } from './certificates.ts';
import { startPaymentService } from './payment-service.ts';
import { createHttpsServer } from './servers.ts';
import { errorsOf, startHarness, type Harness } from './testing/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.remove());

/** Sends bytes and resolves with the response bytes. */
const exchange = (socket: ReturnType<typeof connectTcp>, bytes: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
    socket.write(bytes);
  });

describe('the HTTPS server', () => {
  const tlsSocket = async () => {
    const { port, hostname } = new URL(harness.addresses().httpsUrl);
    return connectTls({
      port: Number(port),
      host: hostname,
      ca: await readFile(harness.addresses().caFile, 'utf8'),
    });
  };

  it.each(['127.0.0.1', 'localhost'])('is verified by its authority alone, as %s', async (host) => {
    const url = new URL('/api/v1/payments', harness.addresses().httpsUrl);
    url.hostname = host;
    const headers = { authorization: `Bearer ${harness.key()}` };
    const answer = await request(url, { headers, dispatcher: harness.agent() });
    expect(answer.statusCode).toBe(200);
    await answer.body.dump();
    await expect(request(url, { headers })).rejects.toThrow(/certificate/);
  });

  it('answers an unknown path and an invalid one with the error body', async () => {
    const unknown = await harness.call('GET', '/api/v2/payments');
    expect([unknown.statusCode, errorsOf(unknown)[0]?.kind]).toEqual([404, 'invalid_request_error']);
    const unreadable = await harness.call('GET', '/%zz');
    expect([unreadable.statusCode, errorsOf(unreadable)[0]?.kind]).toEqual([400, 'invalid_request_error']);
  });

  it('answers a request that is not HTTP with the error body', async () => {
    const answer = await exchange(await tlsSocket(), 'nonsense\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain('"kind":"invalid_request_error"');
  });

  it('closes a request whose body does not arrive', async () => {
    const head = `POST /api/v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${harness.key()}\r\n`;
    const answer = await exchange(
      await tlsSocket(),
      `${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    );
    expect(answer).toBe('');
  });
});

// A 400 after a broken socket looks like the answer to the next creation on a reused connection: a definite refusal of
// a payment that the service has never read.
describe('an error of a connection', () => {
  const answerTo = async (code: string | undefined) => {
    const app = createHttpsServer(await ensureServerCertificate(harness.dataDir, Date.now()), silentLog);
    const socket = new PassThrough();
    const answer = text(socket).catch(() => '');
    app.server.emit('clientError', Object.assign(new Error('x'), { code }), socket);
    return (await answer).split('\r\n', 1)[0];
  };

  it.each([
    ['HPE_INVALID_METHOD', 'HTTP/1.1 400 Bad Request'],
    ['HPE_HEADER_OVERFLOW', 'HTTP/1.1 431 Request Header Fields Too Large'],
    ['ERR_HTTP_REQUEST_TIMEOUT', ''],
    ['ECONNRESET', ''],
    ['EPIPE', ''],
    ['ERR_SSL_BAD_RECORD_TYPE', ''],
    [undefined, ''],
  ])('%s is answered %j', async (code, answer) => {
    expect(await answerTo(code)).toBe(answer);
  });
});

describe('the start', () => {
  const start = (config: { httpsPort?: number; httpPort?: number; dataDir?: string }) => {
    const { dataDir = join(harness.dataDir, 'other') } = config;
    const full = { host: '127.0.0.1', httpsPort: 0, httpPort: 0, ...config, dataDir };
    return startPaymentService({ config: full, clock: systemClock, ids: systemIds, log: silentLog });
  };

  it('fails with a sentence that names every taken port', async () => {
    const httpsPort = Number(new URL(harness.addresses().httpsUrl).port);
    const httpPort = Number(new URL(harness.addresses().httpUrl).port);
    const named = `port ${httpsPort} on 127.0.0.1 (PAYMENT_SERVICE_HTTPS_PORT), port ${httpPort} on 127.0.0.1 (PAYMENT_SERVICE_HTTP_PORT)`;
    await expect(start({ httpsPort, httpPort })).rejects.toThrow(StartupError);
    await expect(start({ httpsPort, httpPort })).rejects.toThrow(`Already in use: ${named}. `);
  });

  it('fails with a sentence when the data folder cannot be created', async () => {
    await expect(start({ dataDir: join(harness.addresses().caFile, 'data') })).rejects.toThrow(
      /TOLLGATE_DATA_DIR/,
    );
  });

  it('fails with a sentence when another process uses the data folder', async () => {
    await expect(start({ dataDir: harness.dataDir })).rejects.toMatchObject({ code: 'data_dir_in_use' });
  });
});
