/**
 * What is stored about requests and customers is protected by secrets that are kept outside the event store, so that who
 * has the store, or a backup of it, can neither read nor guess it.
 */
import { createHmac, createSecretKey, hkdfSync } from 'node:crypto';
import { type KeyedSecret, parseKeyedSecrets } from './keyed-secrets.ts';
import type { Secret } from './secret.ts';

/** The first one protects what is new; what an earlier one has protected is read by it. */
export type DataSecrets = readonly [KeyedSecret, ...KeyedSecret[]];

/** Earlier ones are needed for as long as something is kept that they have protected. */
const secretsMax = 16;

/** Reads `kid:secret,kid:secret`, the one for what is new first. @throws StartupError */
export const parseDataSecrets = (text: string): DataSecrets =>
  parseKeyedSecrets('DATA_SECRETS', text, secretsMax);

/** A key of 256 bits for one purpose: what one purpose reveals says nothing about another. */
export const deriveKey = (secret: Secret, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret.reveal(), '', `tollgate/${purpose}`, 32));

/** Hashes that only who has the secrets can make or try out. */
export interface KeyedHashes {
  /** `<kid>.<mac>` under the first secret: what is recorded. */
  of(text: string): string;
  /** The same under each earlier secret, for comparison with what was recorded then. */
  earlier(text: string): readonly string[];
}

export function createKeyedHashes([first, ...others]: DataSecrets, purpose: string): KeyedHashes {
  const hashUnder = ({ kid, secret }: KeyedSecret) => {
    const key = createSecretKey(deriveKey(secret, purpose));
    return (text: string) => `${kid}.${createHmac('sha256', key).update(text).digest('base64url')}`;
  };
  const hashers = others.map(hashUnder);
  return { of: hashUnder(first), earlier: (text) => hashers.map((hash) => hash(text)) };
}
