/**
 * Secrets outside the event store that protect stored data about requests and customers, so that a copy of the store, or a
 * backup, can be neither read nor guessed.
 */
import { createHmac, createSecretKey, hkdfSync } from 'node:crypto';
import { type KeyedSecret, parseKeyedSecrets } from './keyed-secrets.ts';
import type { Secret } from './secret.ts';

/** The first one protects new data; the earlier ones read their own. */
export type DataSecrets = readonly [KeyedSecret, ...KeyedSecret[]];

/** Earlier ones are needed for as long as something is kept that they have protected. */
const secretsMax = 16;

/** Reads `kid:secret,kid:secret`, the one for new data first. @throws StartupError */
export const parseDataSecrets = (text: string): DataSecrets =>
  parseKeyedSecrets('DATA_SECRETS', text, secretsMax);

/** A key of 256 bits for one purpose: knowledge of one reveals nothing about another. */
export const deriveKey = (secret: Secret, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret.reveal(), '', `tollgate/${purpose}`, 32));

/** Hashes that require the secrets to compute or to guess. */
export interface KeyedHashes {
  /** `<kid>.<mac>` under the first secret: the recorded form. */
  of(text: string): string;
  /** The same under each earlier secret, for comparison with earlier records. */
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
