/**
 * The Payment Service in miniature, over real HTTPS, for the tests of the tests: correct, and made to lie in one
 * respect. It keeps everything in memory and settles money whenever its clock is moved.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { generate } from 'selfsigned';
import { Refused, createFakeBook, type Book, type Refusal } from './fake-book.ts';

export const fakeKey = 'sk_sandbox_0123456789abcdef01234567';
export const fakeProductionKey = 'sk_production_0123456789abcdef01234567';

export interface Call {
  method: string;
  /** Without the query. */
  path: string;
  query: URLSearchParams;
  authorization: string;
  contentType: string;
  text: string;
}

export interface FakeAnswer {
  statusCode: number;
  body: Record<string, unknown> | string;
  contentType: string;
  location?: string;
}

export interface FakeCallback {
  method: string;
  url: string;
  contentType: string;
  body: Record<string, unknown>;
}

/** What the service does otherwise than it should; undefined for a callback leaves it out. */
export interface Lie {
  call?: (call: Call) => Call;
  answer?: (honest: FakeAnswer, call: Call) => FakeAnswer;
  callback?: (honest: FakeCallback) => FakeCallback | undefined;
  servesPlainHttp?: boolean;
}

export interface FakeService {
  baseUrl: string;
  httpUrl: string;
  close(): Promise<void>;
}

export interface FakeCertificate {
  key: string;
  cert: string;
}

export async function makeCertificate(): Promise<FakeCertificate> {
  const made = await generate([{ name: 'commonName', value: 'localhost' }], {
    ...{ keyType: 'ec', algorithm: 'sha256' },
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
    ],
  });
  return { key: made.private, cert: made.cert };
}

export async function startFakeService(certificate: FakeCertificate, lie: Lie = {}): Promise<FakeService> {
  const book = createFakeBook((callback) => {
    const sent = lie.callback === undefined ? callback : lie.callback(callback);
    if (sent !== undefined) void post(sent);
  });
  let baseUrl = '';
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const asked = await readCall(request);
    const honest = answerCall(book, lie.call?.(asked) ?? asked, baseUrl);
    write(response, lie.answer?.(honest, asked) ?? honest);
  };
  const reject = (request: IncomingMessage, response: ServerResponse): void => {
    request.resume();
    write(response, refuse({ statusCode: 403, code: 'https_required', kind: 'authentication_error' }));
  };
  const https = createHttpsServer(certificate, (request, response) => void serve(request, response));
  const http = createHttpServer(lie.servesPlainHttp === true ? (...each) => void serve(...each) : reject);
  const [port, plainPort] = [await listen(https), await listen(http)];
  baseUrl = `https://127.0.0.1:${port}`;
  return {
    baseUrl,
    httpUrl: `http://127.0.0.1:${plainPort}`,
    close: async () => {
      for (const server of [https, http]) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

async function listen(
  server: ReturnType<typeof createHttpServer | typeof createHttpsServer>,
): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function readCall(request: IncomingMessage): Promise<Call> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://fake');
  const { authorization = '', 'content-type': contentType = '' } = request.headers;
  const { method = '' } = request;
  return {
    method,
    path: pathname,
    query: searchParams,
    authorization,
    contentType,
    text: await text(request),
  };
}

function write(response: ServerResponse, { statusCode, body, contentType, location }: FakeAnswer): void {
  response.writeHead(statusCode, {
    'content-type': contentType,
    ...(location === undefined ? {} : { location }),
  });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

async function post(callback: FakeCallback, triesLeft = 3): Promise<void> {
  const { method, url, contentType, body } = callback;
  const content = method === 'GET' ? {} : { body: JSON.stringify(body) };
  const status = await fetch(url, { method, headers: { 'content-type': contentType }, ...content }).then(
    (response) => response.status,
    () => 0,
  );
  if (status === 200 || triesLeft === 0) return;
  await new Promise((resolve) => setTimeout(resolve, 20));
  await post(callback, triesLeft - 1);
}

const jsonType = 'application/json; charset=utf-8';

const succeed = (body: object): FakeAnswer => ({
  statusCode: 200,
  body: { success: true, ...body },
  contentType: jsonType,
});

const refuse = ({ statusCode, code, kind }: Refusal): FakeAnswer => ({
  statusCode,
  body: { success: false, errors: [{ code, kind, message: 'No.' }] },
  contentType: jsonType,
});

function answerCall(book: Book, call: Call, baseUrl: string): FakeAnswer {
  if (call.path.startsWith('/checkout/')) return answerPage(book, call);
  if (!/^\/(api\/v1|sandbox)\//.test(call.path))
    return refuse({ statusCode: 404, code: 'path_not_found', kind: 'invalid_request_error' });
  const key = /^Bearer +(\S+)$/.exec(call.authorization)?.[1];
  const kind = 'authentication_error';
  if (key === undefined) return refuse({ statusCode: 401, code: 'auth_header_not_found', kind });
  if (key !== fakeKey) return refuse({ statusCode: 401, code: 'incorrect_private_key', kind });
  const body = call.method === 'GET' ? {} : readBody(call);
  if (body === undefined)
    return refuse({ statusCode: 400, code: 'invalid_json', kind: 'invalid_request_error' });
  try {
    return succeed(book.answer({ ...call, body }, baseUrl, () => randomBytes(8).toString('hex')));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return refuse(error.refusal);
  }
}

function readBody({ text: sent, contentType }: Call): Record<string, unknown> | undefined {
  if (sent === '') return {};
  if (!contentType.startsWith('application/json')) return undefined;
  try {
    return JSON.parse(sent) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function answerPage(book: Book, call: Call): FakeAnswer {
  const payment = book.open(call.path.split('/')[2] ?? '');
  const contentType = 'text/html; charset=utf-8';
  if (payment === undefined) return { statusCode: 404, body: '', contentType };
  if (call.method === 'POST') {
    const isApproved = new URLSearchParams(call.text).get('number') === '4392963203551251';
    const location = book.settle(payment, isApproved ? 'approved' : 'declined');
    return { statusCode: 303, body: '', contentType, location };
  }
  const inputs = ['number', 'exp', 'csc', 'name'].map(
    (name) => `<input name="${name}" autocomplete="cc-${name}" value="">`,
  );
  const form = `<form method="post" action="${call.path}">${inputs.join('')}</form>`;
  const { locale, product } = payment.fields as { locale?: string; product: string };
  const page = `<html lang="${locale ?? 'en'}"><p>${product}</p>${form}`;
  return { statusCode: 200, body: page, contentType };
}
