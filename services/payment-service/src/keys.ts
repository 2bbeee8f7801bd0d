/** Merchants' private keys (specification, section 5). Only their SHA-256 is stored. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { apiError } from '@tollgate/payment-api';
import { type ApiError } from '@tollgate/core/money';
import { Secret, TollgateError, type Ids } from '@tollgate/service-kit';
import { environments, type Environment } from './config.ts';
import type { Database } from './storage/database.ts';
import type { Merchant, MerchantsTable } from './storage/merchants-table.ts';

const keyRandomBytes = 24;
/** Long enough to find one key, too short to reveal it. */
const hashPrefixLength = 8;
/** Length of the visible part of a key's random text: people can distinguish keys by it, and 168 bits remain secret. */
const shownLength = 6;
const keyIdHashLength = 12;

/** The merchant of a request according to its `Authorization` header, or why it is rejected. */
export type Authenticate = (header: string | undefined) => { merchant: Merchant } | { refused: ApiError };

/** Reads the stored keys for every request, so that a key revoked by another process is rejected immediately. */
export function createAuthenticate(
  merchants: Pick<MerchantsTable, 'keysByHashPrefix'>,
  environment: Environment = 'sandbox',
): Authenticate {
  return (header) => {
    const key = /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1];
    if (key === undefined) return { refused: headerNotFound() };
    const keyOf = environments.find((each) => key.startsWith(prefixOf(each)));
    if (keyOf !== undefined && keyOf !== environment)
      return { refused: otherEnvironment(keyOf, environment) };
    const hash = hashOf(key);
    const candidates = merchants.keysByHashPrefix(hash.slice(0, hashPrefixLength));
    const found = candidates.find((candidate) =>
      timingSafeEqual(Buffer.from(candidate.hash), Buffer.from(hash)),
    );
    return found === undefined || found.isRevoked
      ? { refused: incorrectKey(environment) }
      : { merchant: found.merchant };
  };
}

/** An issued key and its identifier. */
export interface IssuedKey {
  keyId: string;
  key: Secret;
}

export interface IssueKeyDeps {
  merchants: Pick<MerchantsTable, 'insertKey'>;
  ids: Pick<Ids, 'hex'>;
  now: () => number;
}

/** Issues a key. It cannot be recovered: only its hash is stored. Runs inside a transaction. */
export function issueKey(deps: IssueKeyDeps, merchant: Merchant, environment: Environment): IssuedKey {
  const text = `${prefixOf(environment)}${deps.ids.hex(keyRandomBytes)}`;
  return insertKey(deps, merchant, text);
}

/** The data for registering a merchant. */
export interface Registration {
  name: string;
  /** Registered unchanged, so that a key kept elsewhere stays valid; a new key is issued if absent. */
  key?: Secret;
  /** Refuse a second payment with the same `orderNumber`. Unchanged if absent. @default false */
  uniqueOrderNumber?: boolean;
}

/**
 * Registers a merchant of the sandbox, or adds to an existing merchant. Repeating the call with the same key changes
 * nothing.
 *
 * @returns the key, which cannot be recovered: only its hash is stored.
 * @throws TollgateError if the key is no sandbox key, was revoked, or belongs to another merchant.
 */
export function registerMerchant(
  deps: { database: Pick<Database, 'write'>; merchants: MerchantsTable } & IssueKeyDeps,
  { name, key, uniqueOrderNumber }: Registration,
): Promise<{ name: string; key: Secret }> {
  const { database, merchants } = deps;
  if (key !== undefined && !isKeyOf('sandbox', key)) return Promise.reject(notASandboxKey());
  return database.write(() => {
    const merchant = merchants.findByName(name) ?? merchants.insert(name);
    if (uniqueOrderNumber !== undefined) merchants.setUniqueOrderNumber(merchant.id, uniqueOrderNumber);
    if (key === undefined) return { name, key: issueKey(deps, merchant, 'sandbox').key };
    const hash = hashOf(key.reveal());
    const known = merchants.keysByHashPrefix(hash).find((candidate) => candidate.hash === hash);
    if (known === undefined) insertKey(deps, merchant, key.reveal());
    else if (known.isRevoked) throw keyWasRevoked();
    else if (known.merchant.id !== merchant.id) throw keyOfAnother();
    return { name, key };
  });
}

function insertKey({ merchants, now }: IssueKeyDeps, merchant: Merchant, text: string): IssuedKey {
  const hash = hashOf(text);
  const keyId = keyIdOf(text);
  const shown = text.slice(0, text.lastIndexOf('_') + 1 + shownLength);
  merchants.insertKey({ hash, keyId, shown, merchantId: merchant.id, createdAt: now() });
  return { keyId, key: new Secret(text) };
}

/** The identifier of a key. It reveals nothing about the key, and may be shown and logged. */
export const keyIdOf = (key: string): string => `key_${hashOf(key).slice(0, keyIdHashLength)}`;

const prefixOf = (environment: Environment): string => `sk_${environment}_`;

const isKeyOf = (environment: Environment, key: Secret): boolean =>
  new RegExp(`^${prefixOf(environment)}[A-Za-z0-9]{24,128}$`).test(key.reveal());

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');

const headerNotFound = (): ApiError =>
  apiError(
    'auth_header_not_found',
    'Send your private key in the header Authorization: Bearer <PRIVATE_KEY>.',
    'Authorization',
  );

const incorrectKey = (environment: Environment): ApiError =>
  apiError(
    'incorrect_private_key',
    `The private key is not one of this environment (${environment}).`,
    'Authorization',
  );

const otherEnvironment = (keyOf: Environment, environment: Environment): ApiError =>
  apiError(
    'incorrect_private_key',
    `This is a ${keyOf} key, and this is the ${environment} environment: use a ${environment} key here.`,
    'Authorization',
  );

const notASandboxKey = (): TollgateError =>
  new TollgateError(
    'key_invalid',
    `A sandbox key is ${prefixOf('sandbox')} and 24 to 128 letters and digits.`,
  );

const keyWasRevoked = (): TollgateError =>
  new TollgateError('key_revoked', 'The key was revoked and cannot be registered again.');

const keyOfAnother = (): TollgateError =>
  new TollgateError('key_taken', 'The key is registered for another merchant already.');
