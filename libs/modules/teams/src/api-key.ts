/** The text of an API key, as a team sends it: `tg_<environment>_<keyId>_<secret>`. Only a hash of the secret is stored. */
import { hash } from 'node:crypto';
import type { Environment } from '@tollgate/core';

export interface ApiKey {
  environment: Environment;
  /** 1 to 64 letters, digits and hyphens. */
  keyId: string;
  /** 16 to 128 letters, digits, hyphens and underscores. */
  secret: string;
}

const keyPattern = /^tg_(sandbox|production)_([A-Za-z0-9-]{1,64})_([A-Za-z0-9_-]{16,128})$/;

/** @throws RangeError for parts that could not be separated again */
export function formatApiKey(key: ApiKey): string {
  const text = `tg_${key.environment}_${key.keyId}_${key.secret}`;
  const parsed = parseApiKey(text);
  if (parsed?.keyId !== key.keyId || parsed.secret !== key.secret)
    throw new RangeError('the parts of this API key would be ambiguous in one text');
  return text;
}

/** The parts of a key, or undefined if the text is not a key. */
export function parseApiKey(text: string): ApiKey | undefined {
  const [, environment, keyId, secret] = keyPattern.exec(text) ?? [];
  if (environment === undefined || keyId === undefined || secret === undefined) return undefined;
  return { environment: environment as Environment, keyId, secret };
}

/** SHA-256 of a key's secret, hexadecimal. The secret is random and long, so a slow hash would add nothing. */
export const hashApiKeySecret = (secret: string): string => hash('sha256', secret);
