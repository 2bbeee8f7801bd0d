import { hash } from 'node:crypto';
import type { RequestFingerprints } from './domain/request-fingerprint.ts';
import { type DataSecrets, canonicalJson, createKeyedHashes } from '@tollgate/service-kit';

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

/** Identifies a repeat: the caller's own key, or the order number if no key was sent. */
export interface IdempotencyKey {
  source: 'Idempotency-Key' | 'orderNumber';
  value: string;
}

/** Characters of a token after its prefix: 130 bits, so that different requests never collide. */
const tokenLength = 26;

/** A token derived from its parts, so that a repeat finds the same stream: there is no table of keys, and none expires. */
export function deriveToken(prefix: string, parts: readonly string[]): string {
  const bytes = hash('sha256', JSON.stringify(parts), 'buffer');
  return `${prefix}_${base32(bytes).slice(0, tokenLength)}`;
}

/** An attempt's order number at the provider: `<token>.<number>`. */
const attemptNumber = new RegExp(`^((pay|po)_[${alphabet}]{${tokenLength}})\\.\\d{1,9}$`);

/** The token in an order number of a payment (`pay`) or payout (`po`); undefined if it is a team's own order number. */
export function tokenInOrderNumber(prefix: 'pay' | 'po', orderNumber = ''): string | undefined {
  const [, token, found] = attemptNumber.exec(orderNumber) ?? [];
  return found === prefix ? token : undefined;
}

/** The order number at the provider, unique per attempt, with the token in it. */
export const providerOrderNumber = (token: string, attemptNumber: number): string =>
  `${token}.${attemptNumber}`;

const operationNames = { pay: 'payment', ref: 'refund', po: 'payout' } as const;

export interface RequestScope {
  /** Of the event store: see `nameOfInstallation`. */
  installation: string;
  environment: string;
  team: string;
}

/** The token of a request. Installations, teams, environments, operations and sources of key never collide. */
export const deriveOperationToken = (
  prefix: keyof typeof operationNames,
  { installation, environment, team }: RequestScope,
  key: IdempotencyKey,
): string =>
  deriveToken(prefix, [installation, environment, team, operationNames[prefix], key.source, key.value]);

/** The token of a payment that was made before Tollgate; the same for every team that may adopt it. */
export const deriveAdoptedToken = (
  { installation, environment }: Pick<RequestScope, 'installation' | 'environment'>,
  account: string,
  serviceToken: string,
): string => deriveToken('pay', [installation, environment, account, 'adopted', serviceToken]);

/** The alias of the recurring token issued by a payment. */
export const deriveRecurringAlias = (environment: string, paymentToken: string): string =>
  deriveToken('rec', [environment, paymentToken, 'recurring']);

/** The fingerprints of a request; independent of the order of its fields and of explicit defaults. */
export type FingerprintsOf = (request: object) => RequestFingerprints;

/** A false flag and an empty object are equivalent to their absence. */
const isDefault = (value: unknown): boolean =>
  value === false || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

const withoutDefaults = (request: object): object =>
  Object.fromEntries(Object.entries(request).filter(([, value]) => !isDefault(value)));

/** Under secrets that are not in the store: the few unknowns of a request could be guessed from a plain hash. */
export function createFingerprints(secrets: DataSecrets): FingerprintsOf {
  const hashes = createKeyedHashes(secrets, 'fingerprint');
  return (request) => {
    const text = canonicalJson(withoutDefaults(request));
    return { fingerprint: hashes.of(text), earlierFingerprints: hashes.earlier(text) };
  };
}
