/**
 * Credential between the services of one gateway: a MAC over method, path and time, under a shared secret. Other callers of a
 * service's
 * port are refused. The body is not covered: protection against changes in transit needs TLS between the services.
 */
import { createHmac } from 'node:crypto';
import { sendError } from '@tollgate/gateway-api/http';
import { takeRequestId } from './requests/request-notes.ts';
import type { InternalSecrets } from '../configuration/internal-secrets.ts';
import { type Clock, type KeyedSecret, isRequestId, isSameText } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';

export const internalCredentialHeader = 'tollgate-internal';

/** The id of the request that is handed on. */
export const requestIdHeader = 'tollgate-request-id';

/**
 * Maximum difference from our clock: clocks differ, and an intercepted credential is usable for this long. @unit milliseconds
 */
const validMs = 60_000;

export type InternalCredential = ReturnType<typeof createInternalCredential>;

export function createInternalCredential(secrets: InternalSecrets, clock: Pick<Clock, 'now'>) {
  return {
    /** Of one request. @param path without its query */
    sign: (method: string, path: string): string => credentialOf(secrets[0], method, path, clock.now()),
    isValid(given: unknown, method: string, path: string): boolean {
      const [kid, signedAt] = typeof given === 'string' ? given.split('.') : [];
      const secret = secrets.find((each) => each.kid === kid);
      if (typeof given !== 'string' || secret === undefined || !/^\d{1,16}$/.test(signedAt ?? ''))
        return false;
      const isOurs = isSameText(given, credentialOf(secret, method, path, Number(signedAt)));
      return isOurs && Math.abs(clock.now() - Number(signedAt)) <= validMs;
    },
  };
}

function credentialOf({ kid, secret }: KeyedSecret, method: string, path: string, signedAt: number): string {
  const text = JSON.stringify(['internal', method, path, signedAt]);
  return `${kid}.${signedAt}.${createHmac('sha256', secret.reveal()).update(text).digest('base64url')}`;
}

/** Refuses every caller of these routes without a valid credential. */
export function requireInternalCredential(
  scope: FastifyInstance,
  credential: Pick<InternalCredential, 'isValid'>,
): void {
  scope.addHook('onRequest', async (request, reply) => {
    const { headers, method, url } = request;
    const given = headers[internalCredentialHeader];
    if (!credential.isValid(given, method, pathOf(url))) return sendError(reply, 'internal_only');
    // The front door's id of the request: no other caller may set it.
    const handedOn = headers[requestIdHeader];
    if (isRequestId(handedOn)) takeRequestId(request, handedOn);
    return undefined;
  });
}

const pathOf = (url: string): string => url.split('?', 1)[0] ?? '';
