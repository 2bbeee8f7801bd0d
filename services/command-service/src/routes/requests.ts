/** Validates requests of teams that create, capture, void, refund or pay out, and their idempotency keys. */
import { type IdempotencyKey } from '@tollgate/core';
import { type BodyOf, type ErrorCode, bodySchemas, errorEntry } from '@tollgate/gateway-api/http';
import {
  type ErrorEntry,
  containsCardNumber,
  isOnlyCardNumber,
  omitUndefined,
  toErrorEntries,
} from '@tollgate/service-kit';
import type { Caller } from '@tollgate/teams';
import { z } from 'zod';

/** Validates the body of a creation, and this caller's permissions. */
export function parsePaymentRequest(body: unknown, caller: Caller): Parsed<BodyOf<'PaymentRequest'>> {
  // Before anything else reads it: card data must not travel further than this.
  if (typeof body === 'object' && body !== null && 'card' in body && !caller.scopes.has('cards'))
    return refuseCard('card');
  const parsed = parseBody(bodySchemas.PaymentRequest, body);
  if (parsed.kind === 'refused') return parsed;
  const { card, customer, metadata, ...fields } = parsed.value;
  return (
    // An address in the customer's network was not typed.
    refuseCardNumbers({
      ...fields,
      ...textsOf(metadata),
      'customer.email': customer?.email,
      'card.holder': card?.holder,
    }) ??
    refuseEmails({ product: fields.product, orderNumber: fields.orderNumber, ...textsOf(metadata) }) ??
    refuseTwoWaysToPay(parsed.value) ??
    parsed
  );
}

function refuseTwoWaysToPay({
  card,
  recurringToken,
  recurring,
}: BodyOf<'PaymentRequest'>): Refused | undefined {
  if (recurringToken === undefined) return undefined;
  if (card !== undefined)
    return refuse('invalid_param', 'Omit recurringToken: the request has a card.', 'recurringToken');
  if (recurring === true)
    return refuse('invalid_param', 'Omit recurring: the request charges a recurringToken.', 'recurring');
  return undefined;
}

export function parseRefundRequest(body: unknown): Parsed<BodyOf<'RefundRequest'>> {
  const parsed = parseBody(bodySchemas.RefundRequest, body);
  if (parsed.kind === 'refused') return parsed;
  const texts = textsOf(parsed.value.metadata);
  return refuseCardNumbers(texts) ?? refuseEmails(texts) ?? parsed;
}

/** Validates the body of a payout, and this caller's permissions. */
export function parsePayoutRequest(body: unknown, caller: Caller): Parsed<BodyOf<'PayoutRequest'>> {
  // Before anything else reads it: card data must not travel further than this.
  if (holdsCard(body) && !caller.scopes.has('cards')) return refuseCard('destination.card');
  const parsed = parseBody(bodySchemas.PayoutRequest, body);
  if (parsed.kind === 'refused') return parsed;
  const { destination, callbackUrl, metadata, ...fields } = parsed.value;
  const { bankAccount, recurringToken } = destination;
  const texts = {
    ...fields,
    ...textsOf(metadata),
    callbackUrl,
    'destination.recurringToken': recurringToken,
  };
  return (
    refuseCardNumbers({ ...texts, 'destination.bankAccount.bankName': bankAccount?.bankName }) ??
    refuseCardAsAccount(bankAccount?.account) ??
    refuseEmails({ ...fields, ...textsOf(metadata) }) ??
    parsed
  );
}

/** Only the last four characters of an account are stored, but a mistyped card number must not get this far. */
const refuseCardAsAccount = (account: string | undefined): Refused | undefined =>
  account !== undefined && isOnlyCardNumber(account)
    ? refuse(
        'card_data_not_accepted',
        'This is a card number. Send cards as destination.card.',
        'destination.bankAccount.account',
      )
    : undefined;

function holdsCard(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || !('destination' in body)) return false;
  const { destination } = body;
  return typeof destination === 'object' && destination !== null && 'card' in destination;
}

/** A parsed request, or its faults; every error names its parameter, values are never repeated. */
export type Parsed<Value> = { kind: 'parsed'; value: Value } | Refused;
interface Refused {
  kind: 'refused';
  errors: ErrorEntry[];
}

const refuse = (code: ErrorCode, message: string | undefined, parameter: string): Refused => ({
  kind: 'refused',
  errors: [errorEntry(code, { ...omitUndefined({ message }), parameter })],
});

const codeByParameter: Record<string, ErrorCode> = {
  amount: 'incorrect_amount',
  currency: 'incorrect_currency',
};

export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): Parsed<z.infer<Schema>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return refuse('invalid_param', 'The body must be a JSON object.', 'body');
  const result = schema.safeParse(body);
  if (result.success) return { kind: 'parsed', value: result.data };
  const codeOf = (parameter: string) => codeByParameter[parameter] ?? 'invalid_param';
  const fields = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const errors = toErrorEntries(result.error, codeOf, [], fields);
  return { kind: 'refused', errors };
}

/** Refuses a text that looks like a card number in any field except those for cards. */
export function refuseCardNumbers(fields: Readonly<Record<string, unknown>>): Refused | undefined {
  for (const [parameter, value] of Object.entries(fields)) {
    const text = typeof value === 'string' ? value : JSON.stringify(value ?? '');
    if (parameter !== 'amount' && containsCardNumber(text))
      return refuse('card_data_not_accepted', 'This field looks like it contains a card number.', parameter);
  }
  return undefined;
}

/** Refuses a text that looks like an e-mail address in a field that cannot be erased on request. */
export function refuseEmails(fields: Readonly<Record<string, unknown>>): Refused | undefined {
  for (const [parameter, value] of Object.entries(fields))
    if (typeof value === 'string' && emailPattern.test(value))
      return refuse(
        'invalid_param',
        'This field must not contain an e-mail address, because it cannot be erased later. Use customer.email, or an id of yours.',
        parameter,
      );
  return undefined;
}

const emailPattern = /[^\s@](?:@|%40)[^\s@]+\.[a-z]{2,}/i;

/** The texts of metadata by their names in errors. A name may be a card number as well, so no error repeats it. */
export function textsOf(metadata: Readonly<Record<string, string>> = {}): Record<string, string> {
  const texts: Record<string, string> = { metadata: Object.keys(metadata).join(' and ') };
  for (const [name, text] of Object.entries(metadata)) texts[`metadata.${name}`] = text;
  return texts;
}

/** Card data may be sent with keys only that have the scope for it. */
const refuseCard = (parameter: string): Refused =>
  refuse(
    'card_data_not_accepted',
    'The API key lacks the scope cards. Use the hosted page, or a key that has it.',
    parameter,
  );

/** `Idempotency-Key` header, quoted (as in the IETF draft) or bare without a comma; the order number by default. */
export function parseIdempotencyKey(
  header: string | string[] | undefined,
  orderNumber: string | undefined,
): Parsed<IdempotencyKey> {
  if (header === undefined) {
    if (orderNumber !== undefined)
      return { kind: 'parsed', value: { source: 'orderNumber', value: orderNumber } };
    return refuse('idempotency_key_missing', undefined, 'Idempotency-Key');
  }
  const text = String(header);
  const key = /^"([^"]*)"$/.exec(text)?.[1] ?? text;
  if (!/^[\x20-\x7e]{1,255}$/.test(key))
    return refuse(
      'invalid_param',
      'Idempotency-Key must be 1 to 255 printable ASCII characters.',
      'Idempotency-Key',
    );
  if (containsCardNumber(key))
    return refuse(
      'card_data_not_accepted',
      'Idempotency-Key looks like it contains a card number.',
      'Idempotency-Key',
    );
  return { kind: 'parsed', value: { source: 'Idempotency-Key', value: key } };
}
