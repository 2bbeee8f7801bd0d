import { containsCardNumber } from '@tollgate/payment-domain/money';
import type { IdempotencyKey } from '../tokens.ts';
import { type Parsed, refuse } from './parsed.ts';

/** `Idempotency-Key` header, quoted (as in the IETF draft) or bare without a comma; without it the order number stands in. */
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
      'Idempotency-Key holds what looks like a card number.',
      'Idempotency-Key',
    );
  return { kind: 'parsed', value: { source: 'Idempotency-Key', value: key } };
}
