import { rootCertificates } from 'node:tls';
import { Agent, request } from 'undici';
import type { PostJson } from './callbacks.ts';

/** How long a connection is kept for the next callback; shorter than receivers usually keep theirs. */
const idleConnectionMs = 4_000;
const answerBytesReadMax = 64 * 1024;

/**
 * Posts over HTTP and verified HTTPS: the public certificate authorities are trusted, and `trustedCa` (PEM), so that a
 * receiver on the same machine can have a certificate too. Redirects are not followed.
 */
export function createPostJson(trustedCa: string): { postJson: PostJson; close(): Promise<void> } {
  const agent = new Agent({
    keepAliveTimeout: idleConnectionMs,
    keepAliveMaxTimeout: idleConnectionMs,
    connect: { ca: [...rootCertificates, trustedCa], rejectUnauthorized: true },
  });
  return {
    postJson: async (url, body, signal) => {
      const headers = { 'content-type': 'application/json', 'user-agent': 'payment-service' };
      const answer = await request(url, { method: 'POST', headers, body, signal, dispatcher: agent });
      await answer.body.dump({ limit: answerBytesReadMax, signal });
      return answer.statusCode;
    },
    close: () => agent.destroy(),
  };
}
