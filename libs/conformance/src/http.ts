/** Sends requests and reads any answer; redirects are not followed, nothing is sent twice. */
import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import { Agent, request } from 'undici';
import type { Answer } from './answers.ts';
import { Violation } from './conformance-test.ts';

interface HttpRequest {
  method: 'GET' | 'POST' | 'DELETE';
  url: string;
  headers?: Readonly<Record<string, string>>;
  body?: string;
}

export type Http = ReturnType<typeof createHttp>;

/** A service without any answer breaks every tested rule. */
export class NoAnswer extends Violation {
  /** The code of the network or TLS error, for example ECONNREFUSED. */
  readonly code: string;
  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

const answerBytesMax = 4 * 1024 * 1024;

/**
 * Certificates are verified, against the public authorities and those in `caFile`.
 *
 * @throws the file system's error if `caFile` cannot be read
 */
export function createHttp({ caFile, callTimeoutMs }: { caFile: string | undefined; callTimeoutMs: number }) {
  const authorities = caFile === undefined ? [] : [readFileSync(caFile, 'utf8')];
  const agent = new Agent({
    connectTimeout: callTimeoutMs,
    headersTimeout: callTimeoutMs,
    bodyTimeout: callTimeoutMs,
    maxResponseSize: answerBytesMax,
    // Shorter than servers keep idle connections, so that none is used that the server has just closed.
    keepAliveTimeout: 1_000,
    keepAliveMaxTimeout: 1_000,
    connect: { ca: [...rootCertificates, ...authorities], rejectUnauthorized: true },
  });
  return {
    /** @throws NoAnswer if none arrived */
    send: (asked: HttpRequest): Promise<Answer> => send(agent, asked),
    close: (): Promise<void> => agent.destroy(),
  };
}

async function send(agent: Agent, { method, url, headers = {}, body }: HttpRequest): Promise<Answer> {
  const { pathname, search } = new URL(url);
  const call = `${method} ${pathname}${search}`;
  try {
    const response = await request(url, {
      dispatcher: agent,
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.body.text();
    const { 'content-type': contentType, location } = response.headers;
    return {
      call,
      statusCode: response.statusCode,
      contentType: String(contentType ?? ''),
      location: typeof location === 'string' ? location : undefined,
      text,
      body: parseJson(text),
    };
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    throw new NoAnswer(`${call} was not answered: ${code ?? message}`, code ?? '');
  }
}

/** Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
