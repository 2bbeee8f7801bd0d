/** What a team may ask for when it refunds or pays out. */
import {
  type PayoutRequest,
  type RefundRequest,
  payoutRequestSchema,
  refundRequestSchema,
} from '@tollgate/payment-api';
import type { Caller } from '@tollgate/teams';
import { type Parsed, parseBody, refuseCard, refuseCardNumbers } from './parsed.ts';

export const parseRefundRequest = (body: unknown): Parsed<RefundRequest> =>
  parseBody(refundRequestSchema, body);

/** Checks the body of a payout, and that this caller may ask for it. */
export function parsePayoutRequest(body: unknown, caller: Caller): Parsed<PayoutRequest> {
  // Before anything else reads it: card data must not travel further than this.
  if (holdsCard(body) && !caller.scopes.has('cards')) return refuseCard('destination.card');
  const parsed = parseBody(payoutRequestSchema, body);
  if (parsed.kind === 'refused') return parsed;
  const { destination, callbackUrl, ...fields } = parsed.value;
  const { bankAccount, recurringToken } = destination;
  const texts = { ...fields, callbackUrl, 'destination.recurringToken': recurringToken };
  return refuseCardNumbers({ ...texts, 'destination.bankAccount.bankName': bankAccount?.bankName }) ?? parsed;
}

function holdsCard(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || !('destination' in body)) return false;
  const { destination } = body;
  return typeof destination === 'object' && destination !== null && 'card' in destination;
}
