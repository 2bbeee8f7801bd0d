import { mayBeKept } from '@tollgate/gateway-api/http';
import type { RequestRecord } from '@tollgate/requests';
import { omitUndefined } from '@tollgate/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { notesOf } from './request-notes.ts';

/** @param status that it was answered with; undefined if the client was gone */
export function toRequestRecord(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number | undefined,
): RequestRecord {
  const { caller, errorCode, providerMs, clientRequestId } = notesOf(request);
  const token = tokenOf(request);
  return {
    id: request.id,
    method: request.method,
    durationMs: tenths(reply.elapsedTime),
    providerMs: tenths(providerMs),
    ...omitUndefined({ route: request.routeOptions.url, status, caller, token, errorCode, clientRequestId }),
  };
}

const tenths = (milliseconds: number): number => Math.round(milliseconds * 10) / 10;

/** Its subject, from the answer, or else from the path or the body. */
export const tokenOf = (request: FastifyRequest): string | undefined =>
  notesOf(request).token ?? claimed(tokenIn(request.params)) ?? claimed(tokenIn(request.body));

/** The text there is untrusted. */
const claimed = (token: string | undefined): string | undefined =>
  token === undefined || !mayBeKept(token) ? undefined : token;

/** Of the payment, wherever an answer or a path names one; or else of the payout or refund. */
export function tokenIn(fields: unknown): string | undefined {
  const { payment, refund, token, refundToken } = (fields ?? {}) as {
    payment?: { token?: unknown };
    refund?: { paymentToken?: unknown };
    token?: unknown;
    refundToken?: unknown;
  };
  return [payment?.token, refund?.paymentToken, token, refundToken].find(isTokenLike);
}

const isTokenLike = (text: unknown): text is string =>
  typeof text === 'string' && /^[a-z]{2,4}_\w{1,100}$/.test(text);
