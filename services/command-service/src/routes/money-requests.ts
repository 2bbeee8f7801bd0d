/** What a team may ask for when it refunds or pays out. */
import {
  type PayoutRequest,
  type RefundRequest,
  payoutRequestSchema,
  refundRequestSchema,
} from '@tollgate/gateway-api/http';
import { isOnlyCardNumber } from '@tollgate/payment-domain/money';
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

export function parseRefundRequest(body: unknown): Parsed<RefundRequest> {
  const parsed = parseBody(refundRequestSchema, body);
  if (parsed.kind === 'refused') return parsed;
  const texts = textsOf(parsed.value.metadata);
  return refuseCardNumbers(texts) ?? refuseEmails(texts) ?? parsed;
}

/** Checks the body of a payout, and that this caller may ask for it. */
export function parsePayoutRequest(body: unknown, caller: Caller): Parsed<PayoutRequest> {
  // Before anything else reads it: card data must not travel further than this.
  if (holdsCard(body) && !caller.scopes.has('cards')) return refuseCard('destination.card');
  const parsed = parseBody(payoutRequestSchema, body);
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

/** Of an account only the last four characters are kept, but a card number must not come so far by a mistake. */
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
