/** The Payment Service's callbacks: the storable part of one, and its hint. */
import { type CallbackHint } from '@tollgate/core';
import { omitUndefined, containsCardNumber } from '@tollgate/service-kit';

/** The fields of a callback that are read, at once or by an operator who examines a skipped one. */
const fieldsKept = ['token', 'type', 'status', 'orderNumber', 'amount', 'currency'] as const;
/** Maximum stored length of a text: our names and the service's are far shorter. */
const textLengthMax = 256;

/**
 * The stored part of a callback: only the fields that are read. The rest may contain any customer or card data, no inquiry
 * needs it, and a topic is never
 * purged of it. `isRedacted`: it contained what looks like a card number, or the token that charges a card again.
 */
export function redactCallback(
  raw: Uint8Array,
  body: Readonly<Record<string, unknown>>,
): { body: Uint8Array; isRedacted: boolean } {
  // As it was written, and as it is read: an escape such as \u0034 hides a digit from the one, a duplicate key from the other.
  const text = new TextDecoder().decode(raw);
  const isRedacted = containsCardNumber(text) || holdsCardNumber(body) || holdsRecurringToken(body);
  const kept = fieldsKept.flatMap((name) => {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    return isPlain(value) && !containsCardNumber(String(value)) ? [[name, cut(value)] as const] : [];
  });
  return { body: new TextEncoder().encode(JSON.stringify(Object.fromEntries(kept))), isRedacted };
}

const cut = (value: string | number | null) =>
  typeof value === 'string' ? value.slice(0, textLengthMax) : value;

/** By any name: an inquiry fetches it, and it is stored behind our alias. */
const holdsRecurringToken = (body: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(body).some(([name, value]) => /recurring/i.test(name) && value !== null);

const isPlain = (value: unknown): value is string | number | null =>
  typeof value === 'string' || typeof value === 'number' || value === null;

/** Without recursion: 16 KiB may be nested a few thousand levels deep. */
function holdsCardNumber(body: unknown): boolean {
  const rest: unknown[] = [body];
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) rest.push(name, inner);
    } else if (containsCardNumber(String(value))) return true;
  }
  return false;
}

const abouts: ReadonlyMap<unknown, CallbackHint['about']> = new Map([
  // Without a type it is about a payment (specification, section 6).
  [undefined, 'payment'],
  ['payment', 'payment'],
  ['pay', 'payment'],
  ['payout', 'payout'],
  ['refund', 'refund'],
  ['dispute', 'dispute'],
]);

/** Reads a body of any shape. */
export function readCallback({ type, token, status }: Readonly<Record<string, unknown>>): CallbackHint {
  return {
    about: abouts.get(type) ?? 'unknown',
    ...omitUndefined({ serviceToken: text(token), status: text(status) }),
  };
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
