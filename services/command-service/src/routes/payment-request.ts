/** What a team may ask for when it creates a payment through the gateway. */
import { type PaymentRequest, paymentRequestSchema } from '@tollgate/gateway-api/http';
import { paymentNameSchema } from '@tollgate/payment-api';
import type { PaymentTerms } from '@tollgate/payment-domain';
import type { Caller } from '@tollgate/teams';
import type { z } from 'zod';
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

/** Checks the body of a creation, and that this caller may ask for it. */
export function parsePaymentRequest(body: unknown, caller: Caller): Parsed<PaymentRequest> {
  // Before anything else reads it: card data must not travel further than this.
  if (typeof body === 'object' && body !== null && 'card' in body && !caller.scopes.has('cards'))
    return refuseCard('card');
  const parsed = parseBody(paymentRequestSchema, body);
  if (parsed.kind === 'refused') return parsed;
  const { card, customer, metadata, ...fields } = parsed.value;
  return (
    // An address in the customer's network is none that somebody has typed.
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

function refuseTwoWaysToPay({ card, recurringToken, recurring }: PaymentRequest): Refused | undefined {
  if (recurringToken === undefined) return undefined;
  if (card !== undefined)
    return refuse(
      'invalid_param',
      'recurringToken must be left out where a card is given.',
      'recurringToken',
    );
  if (recurring === true)
    return refuse(
      'invalid_param',
      'recurring must be left out where a recurringToken is charged.',
      'recurring',
    );
  return undefined;
}

/** The terms that are recorded: nothing that could be charged, and nothing about the customer. */
export function toTerms(request: PaymentRequest): PaymentTerms {
  const { product, amount, currency, orderNumber, callbackUrl, redirectSuccessUrl, redirectFailUrl } =
    request;
  const { locale, needConfirmation, recurring, recurringToken, metadata } = request;
  const addresses = { callbackUrl, redirectSuccessUrl, redirectFailUrl };
  return {
    kind: kindOf(request),
    ...{ product, amount, currency, orderNumber, ...addresses, locale, recurringToken },
    ...(recurring === true ? { recurring } : {}),
    ...(metadata === undefined ? {} : { metadata }),
    needConfirmation: needConfirmation ?? false,
  };
}

function kindOf({ card, recurringToken }: PaymentRequest): PaymentTerms['kind'] {
  if (card !== undefined) return 'card';
  return recurringToken === undefined ? 'hosted' : 'recurring';
}

/** Body of a confirmation or decline. */
export const parsePaymentName = (body: unknown): Parsed<z.infer<typeof paymentNameSchema>> =>
  parseBody(paymentNameSchema, body);
