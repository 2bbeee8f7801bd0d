/** Merchants' private keys (specification, section 5). Only their SHA-256 is stored. */
import { createHash } from 'node:crypto';
import { apiError } from '@tollgate/payment-api';
import { type ApiError } from '@tollgate/core/money';
import { Secret, TollgateError, type Ids } from '@tollgate/service-kit';
import type { Merchant, MerchantsTable } from './storage/merchants-table.ts';

const keyRandomBytes = 24;
const keyPrefix = 'sk_sandbox_';
const keyPattern = new RegExp(`^${keyPrefix}[A-Za-z0-9]{24,128}$`);

/** The merchant of a request according to its `Authorization` header, or why it is rejected. */
export type Authenticate = (header: string | undefined) => { merchant: Merchant } | { refused: ApiError };

export function createAuthenticate(merchants: Pick<MerchantsTable, 'findByKeyHash'>): Authenticate {
  return (header) => {
    const key = /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1];
    if (key === undefined) return { refused: headerNotFound() };
    if (key.startsWith('sk_production_')) return { refused: otherEnvironment() };
    const merchant = merchants.findByKeyHash(hashOf(key));
    return merchant === undefined ? { refused: incorrectKey() } : { merchant };
  };
}

/** The data for registering a merchant. */
export interface Registration {
  name: string;
  /** Registered unchanged, so that a key kept elsewhere stays valid; a new key is issued if absent. */
  key?: Secret;
}

/**
 * Registers a merchant of the sandbox, or adds to an existing merchant. Repeating the call with the same key changes
 * nothing. Runs inside a transaction.
 *
 * @returns the key, which cannot be recovered: only its hash is stored.
 * @throws TollgateError if the key is no sandbox key, or belongs to another merchant.
 */
export function registerMerchant(
  deps: {
    merchants: MerchantsTable;
    ids: Pick<Ids, 'hex'>;
    now: () => number;
  },
  { name, key: given }: Registration,
): { name: string; key: Secret } {
  const { merchants, ids, now } = deps;
  if (given !== undefined && !keyPattern.test(given.reveal())) throw notASandboxKey();
  const merchant = merchants.findByName(name) ?? merchants.insert(name);
  const key = given ?? new Secret(`${keyPrefix}${ids.hex(keyRandomBytes)}`);
  const hash = hashOf(key.reveal());
  const known = merchants.findByKeyHash(hash);
  if (known === undefined) merchants.insertKey({ hash, merchantId: merchant.id, createdAt: now() });
  else if (known.id !== merchant.id) throw keyOfAnother();
  return { name, key };
}

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');

const headerNotFound = (): ApiError =>
  apiError(
    'auth_header_not_found',
    'Send your private key in the header Authorization: Bearer <PRIVATE_KEY>.',
    'Authorization',
  );

const incorrectKey = (): ApiError =>
  apiError(
    'incorrect_private_key',
    'The private key is not one of this environment (sandbox).',
    'Authorization',
  );

/** A key of one environment is for that environment (specification, section 5). */
const otherEnvironment = (): ApiError =>
  apiError(
    'incorrect_private_key',
    'This is a production key, and this is the sandbox environment: use a sandbox key here.',
    'Authorization',
  );

const notASandboxKey = (): TollgateError =>
  new TollgateError('key_invalid', `A sandbox key is ${keyPrefix} and 24 to 128 letters and digits.`);

const keyOfAnother = (): TollgateError =>
  new TollgateError('key_taken', 'The key is registered for another merchant already.');
