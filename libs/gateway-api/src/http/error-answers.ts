/** Turns an error code into an answer. */
import type { ErrorEntry } from '@tollgate/service-kit';
import type { FastifyReply } from 'fastify';
import { type ErrorCode, docUrlOf, statedError } from './errors.ts';

export interface ErrorDetails {
  message?: string;
  parameter?: string;
  retryAfterSeconds?: number;
}

export function errorEntry(code: ErrorCode, details: ErrorDetails = {}): ErrorEntry {
  const { kind, message, parameter } = { ...statedError(code), ...details };
  return { code, kind, message, ...(parameter === undefined ? {} : { parameter }) };
}

/** An answer before it is sent. */
export interface Answer {
  statusCode: number;
  body: Record<string, unknown>;
  retryAfterSeconds?: number | undefined;
}

/** @param more next to the errors: the token of the recorded payment, refund or payout */
export function errorAnswer(
  code: ErrorCode,
  details: ErrorDetails = {},
  more: { token?: string } = {},
): Answer {
  const { status, retryAfterSeconds } = { ...statedError(code), ...details };
  const body = { success: false, errors: [errorEntry(code, details)], ...more };
  return { statusCode: status, body, retryAfterSeconds };
}

interface ErrorBody {
  success: false;
  errors: readonly { code: string }[];
}

export const isErrorBody = (body: unknown): body is ErrorBody =>
  typeof body === 'object' &&
  body !== null &&
  (body as { success?: unknown }).success === false &&
  Array.isArray((body as { errors?: unknown }).errors);

/** An error body with its request id and links to its codes. */
export const explained = (body: ErrorBody, requestId: string) => ({
  ...body,
  errors: body.errors.map((error) => ({ ...error, docUrl: docUrlOf(error.code) })),
  requestId,
});

export function sendError(
  reply: FastifyReply,
  code: ErrorCode,
  details: ErrorDetails = {},
  more: { token?: string } = {},
): FastifyReply {
  const { statusCode, body, retryAfterSeconds } = errorAnswer(code, details, more);
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  return reply.code(statusCode).send(body);
}
