/** Merchants' private keys (specification, section 5). Only their SHA-256 is stored. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { apiError, type ApiError } from '@tollgate/payment-api';
import { Secret, TollgateError, type Ids } from '@tollgate/service-kit';
import type { Database } from './storage/database.ts';
import type { Merchant, MerchantsTable } from './storage/merchants-table.ts';

const keyPrefix = 'sk_sandbox_';
const keyRandomBytes = 24;
const keyPattern = /^sk_sandbox_[A-Za-z0-9]{24,128}$/;
/** Long enough to find one key, too short to tell anything of it. */
const hashPrefixLength = 8;

/** Which merchant a request comes from, by its `Authorization` header, or why it is rejected. */
export type Authenticate = (header: string | undefined) => { merchant: Merchant } | { refused: ApiError };

export function createAuthenticate(merchants: Pick<MerchantsTable, 'keysByHashPrefix'>): Authenticate {
  return (header) => {
    const key = /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1];
    if (key === undefined) return { refused: headerNotFound() };
    const hash = hashOf(key);
    const candidates = merchants.keysByHashPrefix(hash.slice(0, hashPrefixLength));
    const found = candidates.find((candidate) =>
      timingSafeEqual(Buffer.from(candidate.hash), Buffer.from(hash)),
    );
    return found === undefined ? { refused: incorrectKey() } : { merchant: found.merchant };
  };
}

/** What a merchant is registered with. */
export interface Registration {
  name: string;
  /** Registered as it is, so that a key kept elsewhere stays valid; a new key is made where there is none. */
  key?: Secret;
  /** Refuse a second payment with the same `orderNumber`; as it was, at first false, where it is left out. */
  uniqueOrderNumber?: boolean;
}

/**
 * Registers a merchant, or adds to one of the same name; to do so again with the same key changes nothing.
 *
 * @returns the key, which cannot be had again: only its hash is stored.
 * @throws TollgateError where the key is no sandbox key, or belongs to another merchant.
 */
export function registerMerchant(
  deps: { database: Database; merchants: MerchantsTable; ids: Pick<Ids, 'hex'>; now: () => number },
  { name, key, uniqueOrderNumber }: Registration,
): Promise<{ name: string; key: Secret }> {
  const { database, merchants, ids, now } = deps;
  const text = key?.reveal() ?? `${keyPrefix}${ids.hex(keyRandomBytes)}`;
  if (!keyPattern.test(text)) return Promise.reject(notASandboxKey());
  const hash = hashOf(text);
  return database.write(() => {
    const merchant = merchants.findByName(name) ?? merchants.insert(name);
    if (uniqueOrderNumber !== undefined) merchants.setUniqueOrderNumber(merchant.id, uniqueOrderNumber);
    const known = merchants.keysByHashPrefix(hash).find((candidate) => candidate.hash === hash);
    if (known === undefined) merchants.insertKey({ hash, merchantId: merchant.id, createdAt: now() });
    else if (known.merchant.id !== merchant.id) throw keyOfAnother();
    return { name, key: new Secret(text) };
  });
}

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');

const headerNotFound = (): ApiError =>
  apiError(
    'auth_header_not_found',
    'Send your private key in the header Authorization: Bearer <PRIVATE_KEY>.',
    'Authorization',
  );

const incorrectKey = (): ApiError =>
  apiError('incorrect_private_key', 'The private key is not one of this environment.', 'Authorization');

const notASandboxKey = (): TollgateError =>
  new TollgateError('key_invalid', `A sandbox key is ${keyPrefix} and 24 to 128 letters and digits.`);

const keyOfAnother = (): TollgateError =>
  new TollgateError('key_taken', 'The key is registered for another merchant already.');
