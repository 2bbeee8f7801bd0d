/**
 * The port to a holder of master keys. It wraps and unwraps data keys, and never sees the data: so it can be a cloud
 * key service or a hardware module (decision 17). This adapter has the masters in memory.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { type DataSecrets, deriveKey } from './data-secrets.ts';
import { TollgateError } from './errors.ts';
import type { Ids } from './ids.ts';

interface WrappedKey {
  /** Of the master that it is wrapped under: letters and digits. */
  keyId: string;
  wrapped: Buffer;
}

export interface KeyService {
  /** Wraps a data key under the current master. @param context authenticated: unwrapping needs the same */
  wrap(key: Buffer, context: string): Promise<WrappedKey>;
  /** @throws TollgateError `key_unknown` for a missing master, `sealed_data_damaged` for invalid input */
  unwrap(wrapped: WrappedKey, context: string): Promise<Buffer>;
}

export function createLocalKeyService(secrets: DataSecrets, ids: Ids): KeyService {
  const [{ kid: current }] = secrets;
  const masters = new Map(secrets.map(({ kid, secret }) => [kid, deriveKey(secret, 'master')]));
  const masterOf = (keyId: string): Buffer => {
    const master = masters.get(keyId);
    if (master !== undefined) return master;
    const message = `DATA_SECRETS lacks the data secret ${keyId}, which encrypted data need. Add it.`;
    throw new TollgateError('key_unknown', message, { retryable: false });
  };
  return {
    wrap: async (key, context) => ({
      keyId: current,
      wrapped: encrypt(masterOf(current), key, { context, ids }),
    }),
    unwrap: async ({ keyId, wrapped }, context) => decrypt(masterOf(keyId), wrapped, context),
  };
}

const ivBytes = 12;
const tagBytes = 16;

/** AES-256-GCM: initialization vector, tag, ciphertext. */
export function encrypt(
  key: Buffer,
  plain: Buffer,
  { context, ids }: { context: string; ids: Pick<Ids, 'hex'> },
): Buffer {
  const iv = Buffer.from(ids.hex(ivBytes), 'hex');
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context));
  const text = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), text]);
}

/** @throws TollgateError `sealed_data_damaged` for another key, another context or other bytes */
export function decrypt(key: Buffer, sealed: Buffer, context: string): Buffer {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, ivBytes), {
      authTagLength: tagBytes,
    });
    decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes));
    return Buffer.concat([decipher.update(sealed.subarray(ivBytes + tagBytes)), decipher.final()]);
  } catch (error) {
    const message = 'Encrypted data cannot be read: the data or the secret of that name was changed.';
    throw new TollgateError('sealed_data_damaged', message, { retryable: false, cause: error });
  }
}
