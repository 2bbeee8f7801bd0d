/**
 * What the services of one gateway know each other by: a MAC over method, path and time, under a secret that they share. Who
 * reaches the port of a service, and is none of them, is refused. The body is not part of it: who can change what is on
 * the way between our services needs TLS between them to be kept from it.
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

/** How far from our clock a credential may be, milliseconds: clocks differ, and who has read one may use it so long. */
const validMs = 60_000;

export interface InternalCredential {
  /** Of one request. @param path without its query */
  sign(method: string, path: string): string;
  isValid(given: unknown, method: string, path: string): boolean;
}

export function createInternalCredential(
  secrets: InternalSecrets,
  clock: Pick<Clock, 'now'>,
): InternalCredential {
  return {
    sign: (method, path) => credentialOf(secrets[0], method, path, clock.now()),
    isValid(given, method, path) {
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

/** Refuses whatever comes to the routes of this scope from nobody of ours. */
export function requireInternalCredential(
  scope: FastifyInstance,
  credential: Pick<InternalCredential, 'isValid'>,
): void {
  scope.addHook('onRequest', async (request, reply) => {
    const { headers, method, url } = request;
    const given = headers[internalCredentialHeader];
    if (!credential.isValid(given, method, pathOf(url))) return sendError(reply, 'internal_only');
    // Of the request as the front door has named it: from nobody else would we take it.
    const handedOn = headers[requestIdHeader];
    if (isRequestId(handedOn)) takeRequestId(request, handedOn);
    return undefined;
  });
}

const pathOf = (url: string): string => url.split('?', 1)[0] ?? '';
