/** What a team may ask for when it creates a payment through the gateway. */
import { containsCardNumber, createPaymentRequestSchema, type ApiError } from '@tollgate/payment-api';
import type { PaymentTerms } from '@tollgate/payment-domain';
import { toErrorEntries } from '@tollgate/service-kit';
import type { z } from 'zod';
import type { IdempotencyKey } from './payment-token.ts';

// The gateway notifies the team itself, so that a callback address is the team's choice (specification: its own is "not shown").
const requestSchema = createPaymentRequestSchema.partial({ callbackUrl: true });
export type PaymentRequest = z.infer<typeof requestSchema>;

export type Parsed<Value> = { kind: 'parsed'; value: Value } | { kind: 'refused'; errors: ApiError[] };

const refuse = (
  code: string,
  message: string,
  parameter: string,
): { kind: 'refused'; errors: ApiError[] } => ({
  kind: 'refused',
  errors: [{ code, kind: 'invalid_request_error', message, parameter }],
});

const codeByParameter: Record<string, string> = {
  amount: 'incorrect_amount',
  currency: 'incorrect_currency',
};

/** Checks a request body. Every error names its parameter; values are never repeated. */
export function parsePaymentRequest(body: unknown): Parsed<PaymentRequest> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return refuse('invalid_param', 'The body must be a JSON object.', 'body');
  // Before anything else looks at it: card data must not travel further into the house than here.
  if ('card' in body)
    return refuse('card_data_not_accepted', 'This key may not send card data; use the hosted page.', 'card');
  const result = requestSchema.safeParse(body);
  if (!result.success) {
    const errors = toErrorEntries(result.error, (parameter) => codeByParameter[parameter] ?? 'invalid_param');
    return { kind: 'refused', errors };
  }
  return refuseUnsafe(result.data) ?? { kind: 'parsed', value: result.data };
}

function refuseUnsafe(request: PaymentRequest): { kind: 'refused'; errors: ApiError[] } | undefined {
  for (const [parameter, value] of Object.entries(request)) {
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    if (parameter !== 'amount' && containsCardNumber(text))
      return refuse('card_data_not_accepted', 'This field holds what looks like a card number.', parameter);
  }
  for (const parameter of ['callbackUrl', 'redirectSuccessUrl', 'redirectFailUrl'] as const) {
    const url = request[parameter];
    if (
      url !== undefined &&
      (url.includes('\\') || new URL(url).username !== '' || new URL(url).password !== '')
    )
      return refuse('invalid_param', 'must not hold a user name, a password or a backslash', parameter);
  }
  // Recurring payments need the alias that hides the service's token; until it exists, saying no is the honest answer.
  for (const parameter of ['recurring', 'recurringToken'] as const)
    if (request[parameter] !== undefined && request[parameter] !== false)
      return refuse('invalid_param', 'recurring payments are not offered by this gateway yet', parameter);
  return undefined;
}

/** The terms that are recorded: all that a further attempt needs, and nothing else. */
export function toTerms(request: PaymentRequest): PaymentTerms {
  const { product, amount, currency, orderNumber, callbackUrl, redirectSuccessUrl, redirectFailUrl } =
    request;
  const { locale, needConfirmation, customer } = request;
  const terms = {
    product,
    amount,
    currency,
    orderNumber,
    callbackUrl,
    redirectSuccessUrl,
    redirectFailUrl,
    locale,
  };
  return { kind: 'hosted', ...terms, needConfirmation: needConfirmation ?? false, customer };
}

/** `Idempotency-Key` header, quoted (as in the IETF draft) or bare; without it the order number stands in. */
export function parseIdempotencyKey(
  header: string | string[] | undefined,
  orderNumber: string | undefined,
): Parsed<IdempotencyKey> {
  if (header === undefined) {
    if (orderNumber !== undefined)
      return { kind: 'parsed', value: { source: 'orderNumber', value: orderNumber } };
    const message =
      'Send the header Idempotency-Key, or an orderNumber: a repeat could not be told from a new payment.';
    return refuse('idempotency_key_missing', message, 'Idempotency-Key');
  }
  const text = Array.isArray(header) ? header.join(', ') : header;
  const key = /^"(.*)"$/.exec(text)?.[1] ?? text;
  if (!/^[\x20-\x7e]{1,255}$/.test(key))
    return refuse('invalid_param', 'must be 1 to 255 printable ASCII characters', 'Idempotency-Key');
  if (containsCardNumber(key))
    return refuse(
      'card_data_not_accepted',
      'This header holds what looks like a card number.',
      'Idempotency-Key',
    );
  return { kind: 'parsed', value: { source: 'Idempotency-Key', value: key } };
}
