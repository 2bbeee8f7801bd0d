/** Encrypts texts that are kept in the event store, each under its own random key that a master key wraps. */
import { TollgateError } from './errors.ts';
import type { Ids } from './ids.ts';
import { type KeyService, decrypt, encrypt } from './key-service.ts';

export type Vault = ReturnType<typeof createVault>;

export const createVault = (keys: KeyService, ids: Ids) => ({
  /** @param context the place of storage: a copy in another place cannot be opened */
  async seal(text: string, context: string): Promise<string> {
    const key = Buffer.from(ids.hex(32), 'hex');
    const { keyId, wrapped } = await keys.wrap(key, context);
    const body = encrypt(key, Buffer.from(text), { context, ids });
    return ['v1', keyId, wrapped.toString('base64url'), body.toString('base64url')].join('.');
  },
  /** @throws TollgateError `key_unknown`, `sealed_data_damaged` */
  async open(sealed: string, context: string): Promise<string> {
    const [, keyId = '', wrapped = '', body = ''] = sealedForm.exec(sealed) ?? [];
    if (keyId === '') throw notSealed();
    const key = await keys.unwrap({ keyId, wrapped: Buffer.from(wrapped, 'base64url') }, context);
    return decrypt(key, Buffer.from(body, 'base64url'), context).toString();
  },
});

const sealedForm = /^v1\.([A-Za-z0-9]+)\.([\w-]+)\.([\w-]+)$/;

/** The master of a sealed text; undefined for other texts. */
export const keyIdOf = (sealed: string): string | undefined => sealedForm.exec(sealed)?.[1];

const notSealed = () =>
  new TollgateError('sealed_data_damaged', 'Encrypted data cannot be read: unknown format.', {
    retryable: false,
  });
