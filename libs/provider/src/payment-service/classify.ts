/**
 * Classifies the effect of a call to the Payment Service from its answer.
 *
 * The one question is whether money can have moved. `not-sent`: certainly not; `refused`: this delivery of the request had no
 * effect. Everything else
 * is `unknown`, and is resolved by inquiry, never by calling again.
 */
import { errorKindByCode, isErrorCode } from '@tollgate/payment-api';
import { decodeUtf8, maskedText } from '@tollgate/service-kit';
import { isRemoved, repeatsSecret, withoutSecrets } from './secrets.ts';
import type { ApiError } from '@tollgate/core/money';

/** The knowledge after a call. A `reason` is our own short text, without any part of an answer, key or card data. */
export type ServiceOutcome<Answer> =
  | { kind: 'accepted'; answer: Answer }
  /** The service has refused it. Each error has a kind and a code; there is at least one. */
  | { kind: 'refused'; errors: ApiError[] }
  /** No byte of the request was sent; or, if `isAnswered`, HTTP 429: too many requests. */
  | { kind: 'not-sent'; reason: string; isAnswered?: true }
  /** Anything else: it may have happened. */
  | { kind: 'unknown'; reason: string };

/** An answer that was read to its end, or an earlier failure. */
export type CallResult =
  | { kind: 'answered'; statusCode: number; body: Uint8Array }
  /** `sent` is false only if no byte of the request can have been sent; `code` is the error's `code`. */
  | { kind: 'failed'; sent: boolean; code: string };

/** Reads a body with `success: true` as the answer of one operation, or returns why it is invalid. */
export type AnswerReader<Answer> = (body: unknown) => { answer: Answer } | { fault: string };

/**
 * Turns an answer or failure into an outcome, by the kinds and codes of section 7 and never by an HTTP failure status: known
 * deployments answer 403 or 502
 * for everything.
 *
 * @param secrets texts of the request (key, card number, CVV, recurring token, bank account) that must not be part of an
 * outcome
 */
export function classify<Answer>(
  result: CallResult,
  read: AnswerReader<Answer>,
  secrets: readonly string[] = [],
): ServiceOutcome<Answer> {
  if (result.kind === 'failed') return fromFailure(result);
  const http = `http ${result.statusCode}`;
  if (result.statusCode >= 300 && result.statusCode < 400) return unknown(`${http} redirect`);
  const body = parseBody(result.body, secrets);
  if (result.statusCode === tooManyRequests && namesNothing(result.body, body))
    return { ...notSent(http), isAnswered: true };
  if (body === undefined) return unknown(`${http} without a readable body`);
  if (body['success'] === true) return fromSuccess(result.statusCode, body, read);
  if (body['success'] !== undefined && body['success'] !== false)
    return unknown(`${http} without a readable body`);
  return fromErrors(http, body, secrets);
}

const unknown = (reason: string) => ({ kind: 'unknown', reason }) as const;
const notSent = (reason: string) => ({ kind: 'not-sent', reason }) as const;

const tooManyRequests = 429;

/** True if an answer names nothing that may have been created; true for an unreadable one, such as a proxy's page. */
function namesNothing(bytes: Uint8Array, body: Body | undefined): boolean {
  if (body !== undefined) return body['success'] !== true && madeBy(body) === undefined;
  const text = new TextDecoder().decode(bytes);
  return !madeFields.some((field) => text.includes(field));
}

const reasonByFailureCode: ReadonlyMap<string, string> = new Map([
  ['DEADLINE', 'timeout'],
  ['SEND_TIME_PASSED', 'the time to send had passed'],
  ['ECONNRESET', 'connection reset'],
  ['EPIPE', 'connection reset'],
  ['UND_ERR_SOCKET', 'connection reset'],
  ['UND_ERR_CONNECT_TIMEOUT', 'connect timeout'],
  ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'body too large'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'body cut short'],
  ['UND_ERR_CLOSED', 'client closed'],
  ['UND_ERR_DESTROYED', 'client closed'],
]);

function fromFailure({ sent, code }: { sent: boolean; code: string }): ServiceOutcome<never> {
  const named = /^[A-Z][A-Z0-9_/]{1,63}$/.test(code) ? code : 'unnamed failure';
  const reason = reasonByFailureCode.get(code) ?? (code.startsWith('HPE_') ? 'answer is not HTTP' : named);
  return sent ? unknown(reason) : notSent(reason);
}

type Body = Record<string, unknown>;

/** The body as a JSON object, or undefined. `null` counts as absent, for deployments that write out empty fields. */
function parseBody(bytes: Uint8Array, secrets: readonly string[]): Body | undefined {
  try {
    const body: unknown = JSON.parse(decodeUtf8(bytes) ?? '', withoutSecrets(secrets));
    return isObject(body) ? body : undefined;
  } catch {
    return undefined; // Not UTF-8, not JSON, or nested deeper than the stack.
  }
}

const isObject = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function fromSuccess<Answer>(
  statusCode: number,
  body: Body,
  read: AnswerReader<Answer>,
): ServiceOutcome<Answer> {
  if (statusCode < 200 || statusCode > 299) return unknown(`success with http ${statusCode}`);
  if (readErrors(body['errors'], []).length > 0) return unknown('success with errors');
  const reading = read(body);
  return 'answer' in reading ? { kind: 'accepted', answer: reading.answer } : unknown(reading.fault);
}

function fromErrors(http: string, body: Body, secrets: readonly string[]): ServiceOutcome<never> {
  const errors = readErrors(body['errors'], secrets);
  if (errors.length === 0) return unknown(`${http} without readable errors`);
  const uncertain = errors.find((error) => !isRefusal(error));
  if (uncertain !== undefined) return unknown(describe(uncertain));
  // A refusal that names a payment, a refund or a payout may have created one.
  const named = madeBy(body);
  return named === undefined ? { kind: 'refused', errors } : unknown(`refusal with a ${named}`);
}

const madeFields = ['payment', 'refund', 'payout', 'token'] as const;
const madeBy = (body: Body) => madeFields.find((field) => body[field] !== undefined);

const refusalKinds: ReadonlySet<string> = new Set([
  'authentication_error',
  'invalid_request_error',
  'processing_error',
  'settings_error',
]);
const uncertainKinds: ReadonlySet<string> = new Set(['api_error', 'gateway_error', 'http_error']);

/** Decided by its kind alone: section 7 lists no codes. A contradictory answer proves nothing. */
function isRefusal({ kind, code }: ApiError): boolean {
  if (uncertainKinds.has(code) || (isErrorCode(code) && errorKindByCode[code] === 'api_error')) return false;
  return refusalKinds.has(kind);
}

function describe({ kind, code }: ApiError): string {
  const isKnownKind = refusalKinds.has(kind) || uncertainKinds.has(kind);
  return `${isKnownKind ? kind : 'unknown kind'} ${isErrorCode(code) ? code : 'unknown code'}`;
}

/** Reads `errors` in every known shape: a list of objects or texts, one object, one text. */
function readErrors(errors: unknown, secrets: readonly string[]): ApiError[] {
  if (isNothing(errors)) return [];
  const entries: unknown[] = Array.isArray(errors) ? errors : [errors];
  return entries.map((entry) => readError(entry, secrets));
}

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === false ||
  value === '' ||
  (isObject(value) && Object.keys(value).length === 0);

/** Reads one entry. A missing kind follows from a known code, a missing code is the kind; both missing is uncertain. */
function readError(entry: unknown, secrets: readonly string[]): ApiError {
  const { code, kind, message, parameter }: Body = isObject(entry) ? entry : { code: entry };
  const readCode = readName(code, secrets);
  const readKind = readName(kind, secrets) ?? kindOf(readCode);
  return {
    code: readCode ?? readKind,
    kind: readKind,
    ...optional('message', readText(message, secrets)),
    ...optional('parameter', readName(parameter, secrets)),
  };
}

function kindOf(code: string | undefined): string {
  if (code === undefined) return 'unknown';
  if (isErrorCode(code)) return errorKindByCode[code];
  return refusalKinds.has(code) || uncertainKinds.has(code) ? code : 'unknown';
}

const optional = (name: 'message' | 'parameter', text: string | undefined) =>
  text === undefined ? {} : { [name]: text };

/** A name such as `invalid_param` or `card.pan`; anything else is the peer's free text, and not kept. */
const readName = (value: unknown, secrets: readonly string[]): string | undefined => {
  const text = readText(value, secrets);
  return text !== undefined && /^[A-Za-z][\w.[\]-]{0,99}$/.test(text) ? text : undefined;
};

const messageLengthMax = 500;

/** A text that repeats nothing secret, with card numbers masked, cut to a bounded length. */
function readText(value: unknown, secrets: readonly string[]): string | undefined {
  if (typeof value !== 'string' || value === '' || isRemoved(value)) return undefined;
  return repeatsSecret(value, secrets) ? undefined : maskedText(value, messageLengthMax);
}
