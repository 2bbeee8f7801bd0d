/** The HTTP client for webhooks: one POST, no retries, no redirects, no cookies, verified certificates. */
import type { LookupFunction } from 'node:net';
import { rootCertificates } from 'node:tls';
import { errorCode } from '@tollgate/service-kit';
import { Agent, errors as undiciErrors, request } from 'undici';
import { AddressNotAllowed } from './address-guard.ts';
import type { FailureReason } from '@tollgate/gateway-api';

/** How long an idle connection is kept; shorter than receivers usually do. */
const idleConnectionMs = 4_000;
/** Below the timeout of an attempt, so that a silent host cannot keep later attempts from connecting. */
const connectTimeoutMs = 5_000;
/** Maximum size of an answer body; a longer one ends the connection. */
const answerBytesReadMax = 16 * 1024;
const answerHeaderBytesMax = 16 * 1024;

export interface WebhookClientOptions {
  /** A certificate authority (PEM) to trust in addition to the public ones. */
  trustedCa?: string;
  /** Resolves names, and decides which addresses may be called. */
  lookup: LookupFunction;
  /** Maximum connections to one origin. */
  connectionsPerOrigin: number;
}

export type WebhookClient = ReturnType<typeof createWebhookClient>;

export function createWebhookClient(options: WebhookClientOptions) {
  const { trustedCa, lookup, connectionsPerOrigin } = options;
  const ca = trustedCa === undefined ? {} : { ca: [...rootCertificates, trustedCa] };
  const connect = { lookup, timeout: connectTimeoutMs, rejectUnauthorized: true };
  const agent = new Agent({
    connections: connectionsPerOrigin,
    pipelining: 1,
    allowH2: false,
    maxHeaderSize: answerHeaderBytesMax,
    keepAliveTimeout: idleConnectionMs,
    keepAliveMaxTimeout: idleConnectionMs,
    // The caller sets the only timeout of an attempt.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { ...connect, ...ca },
  });
  return {
    /** Posts JSON; returns the status, and the beginning of the body. Rejects without an answer. */
    post: async (
      { url, headers, body }: { url: string; headers: Record<string, string>; body: string },
      signal: AbortSignal,
    ) => {
      const answer = await request(url, { method: 'POST', headers, body, signal, dispatcher: agent });
      return { statusCode: answer.statusCode, body: await beginningOf(answer.body) };
    },
    close: () => agent.destroy(),
  };
}

/** A body that is cut short or takes too long does not matter: the status counts. Reading it keeps the connection usable. */
async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let [text, bytesRead] = ['', 0];
  try {
    for await (const chunk of body) {
      bytesRead += chunk.length;
      text += decoder.decode(chunk, { stream: true });
      if (bytesRead > answerBytesReadMax) break;
    }
  } catch {
    return text;
  }
  return text;
}

/** Why there was no answer. Error messages are not stored: they repeat the receiver's words. */
export function failureReasonOf(error: unknown): FailureReason {
  const errors = [...causesOf(error)];
  if (errors.some((each) => each instanceof AddressNotAllowed)) return 'address_not_allowed';
  const codes = errors.map((each) => errorCode(each) ?? '');
  if (codes.some((code) => /^(ENOTFOUND|ENODATA|ESERVFAIL|EREFUSED|ETIMEOUT|EBADNAME|EBADRESP)$/.test(code)))
    return 'name_not_found';
  if (codes.some((code) => /^(ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_SSL_)/.test(code)))
    return 'certificate_refused';
  if (errors.some(isUnreadable)) return 'answer_unreadable';
  return 'connection_failed';
}

const isUnreadable = (error: unknown): boolean =>
  error instanceof undiciErrors.HTTPParserError || error instanceof undiciErrors.HeadersOverflowError;

/** An error and its causes; several addresses that failed in turn are an aggregate. */
function* causesOf(error: unknown, depth = 0): Generator {
  if (!(error instanceof Error) || depth > 5) return;
  yield error;
  yield* causesOf(error.cause, depth + 1);
  if (error instanceof AggregateError) for (const each of error.errors) yield* causesOf(each, depth + 1);
}
