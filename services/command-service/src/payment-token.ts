import { createHash } from 'node:crypto';

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

/** RFC 4648 base32 in lower case, without padding: safe in paths, stream names and topic keys. */
function base32(bytes: Uint8Array): string {
  let text = '';
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = ((buffer << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet.charAt((buffer >> bits) & 31);
    }
  }
  return bits > 0 ? text + alphabet.charAt((buffer << (5 - bits)) & 31) : text;
}

/** What a repeat of a request is known by: the caller's own key, or the order number where no key was sent. */
export interface IdempotencyKey {
  source: 'Idempotency-Key' | 'orderNumber';
  value: string;
}

/**
 * The token that a request always gets: a repeat meets the same stream, so there is no table of keys and none expires.
 * Two teams, environments, operations or sources of key never meet.
 */
export function derivePaymentToken(environment: string, team: string, key: IdempotencyKey): string {
  const parts = JSON.stringify([environment, team, 'payment', key.source, key.value]);
  return `pay_${base32(createHash('sha256').update(parts).digest())}`;
}

/** Hash of a JSON value that does not depend on the order of its fields. */
export function fingerprintOf(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('hex');
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`);
  return `{${fields.join(',')}}`;
}
