/** Encrypts texts that are kept in the event store (AES-256-GCM), under keys that derive from the data secrets. */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { type DataSecrets, deriveKey } from './data-secrets.ts';
import { TollgateError } from './errors.ts';
import type { Ids } from './ids.ts';

const ivBytes = 12;
const tagBytes = 16;

export type Vault = ReturnType<typeof createVault>;

export function createVault(secrets: DataSecrets, ids: Pick<Ids, 'hex'>) {
  const [{ kid: current }] = secrets;
  const keys = new Map(secrets.map(({ kid, secret }) => [kid, deriveKey(secret, 'master')]));

  /** @throws TollgateError `key_unknown` */
  function keyOf(kid: string): Buffer {
    const key = keys.get(kid);
    if (key !== undefined) return key;
    const message = `DATA_SECRETS lacks the data secret ${kid}, which encrypted data need. Add it.`;
    throw new TollgateError('key_unknown', message, { retryable: false });
  }

  return {
    /** @param context the place of storage: a copy in another place cannot be opened */
    seal(text: string, context: string): string {
      const iv = Buffer.from(ids.hex(ivBytes), 'hex');
      const cipher = createCipheriv('aes-256-gcm', keyOf(current), iv).setAAD(Buffer.from(context));
      const encrypted = Buffer.concat([cipher.update(text), cipher.final()]);
      const body = Buffer.concat([iv, cipher.getAuthTag(), encrypted]);
      return ['v1', current, body.toString('base64url')].join('.');
    },
    /** @throws TollgateError `key_unknown`, `sealed_data_damaged` */
    open(sealed: string, context: string): string {
      const [, kid = '', body = ''] = sealedForm.exec(sealed) ?? [];
      if (kid === '') throw damaged('unknown format');
      const key = keyOf(kid);
      const bytes = Buffer.from(body, 'base64url');
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes), {
          authTagLength: tagBytes,
        });
        decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
        const plain = [decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()];
        return Buffer.concat(plain).toString();
      } catch (error) {
        throw damaged('the data or the secret of that name was changed', error);
      }
    },
  };
}

const sealedForm = /^v1\.([A-Za-z0-9]+)\.([\w-]+)$/;

/** The name of the data secret of a sealed text; undefined for other texts. */
export const keyIdOf = (sealed: string): string | undefined => sealedForm.exec(sealed)?.[1];

const damaged = (why: string, cause?: unknown) =>
  new TollgateError('sealed_data_damaged', `Encrypted data cannot be read: ${why}.`, {
    retryable: false,
    cause,
  });
