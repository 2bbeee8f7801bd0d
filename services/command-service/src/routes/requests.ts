/** Requests of teams that create, capture, void, refund or pay out. */
import { type BodyOf, bodySchemas } from '@tollgate/gateway-api/http';
import type { Caller } from '@tollgate/teams';
import {
  type Parsed,
  type Refused,
  parseBody,
  refuse,
  refuseCard,
  refuseCardNumbers,
  refuseEmails,
  textsOf,
} from './parsed.ts';
import { isOnlyCardNumber } from '@tollgate/service-kit';

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
