/**
 * The provider's recurring tokens behind our aliases (stream `recurring-<alias>`): a team charges the alias, through the
 * account of the first payment. Encrypted, because each can charge a card, and never handed out.
 */
import { type EventStore, firstSchemaVersion } from '@tollgate/event-store';
import { type EventMetadata } from '../domain/event-metadata.ts';
import { environmentSchema } from '../domain/values.ts';
import { type Clock, type Ids, type Vault } from '@tollgate/service-kit';
import { isToken } from '../domain/ownership.ts';
import type { Cause } from './repository.ts';
import { z } from 'zod';

export const recurringTokenStoredSchema = z.object({
  environment: environmentSchema,
  team: z.string(),
  account: z.string(),
  /** The provider's token, encrypted: it charges the card again. */
  sealedRecurringToken: z.string(),
  /** The payment that issued it. */
  paymentToken: z.string(),
});
type StoredRecurringToken = z.infer<typeof recurringTokenStoredSchema>;

export const recurringTokenStored = 'RecurringTokenStored';
export const recurringStream = (alias: string): string => `recurring-${alias}`;

/** Authenticated with the encrypted token: an owner edited in the store cannot charge the card. */
export const recurringTokenContext = (
  stream: string,
  { environment, team, account, paymentToken }: Omit<StoredRecurringToken, 'sealedRecurringToken'>,
): string => JSON.stringify([stream, environment, team, account, paymentToken]);

type RecurringToken = Omit<StoredRecurringToken, 'sealedRecurringToken'> & {
  serviceRecurringToken: string;
};

export type RecurringTokens = ReturnType<typeof createRecurringTokens>;

export function createRecurringTokens(deps: { store: EventStore; vault: Vault; clock: Clock; ids: Ids }) {
  const { store, vault, clock, ids } = deps;
  return {
    /** The first one stays: an alias never changes to another card. @throws StoreUnavailable */
    async keep(
      alias: string,
      { serviceRecurringToken, ...owner }: RecurringToken,
      cause: Cause,
    ): Promise<void> {
      const stream = recurringStream(alias);
      const sealedRecurringToken = vault.seal(serviceRecurringToken, recurringTokenContext(stream, owner));
      const metadata: EventMetadata = {
        schemaVersion: firstSchemaVersion,
        ...cause,
        recordedAt: clock.now(),
      };
      const data: StoredRecurringToken = { ...owner, sealedRecurringToken };
      await store.append(
        stream,
        [{ id: ids.uuid(), type: recurringTokenStored, data, metadata }],
        'no-stream',
      );
    },
    /** @throws TollgateError `key_unknown`, `sealed_data_damaged` if it cannot be decrypted */
    async find(alias: string): Promise<RecurringToken | undefined> {
      // The team's text is untrusted, and only a valid token may name a stream.
      if (!isToken(alias)) return undefined;
      const stream = recurringStream(alias);
      // A re-encrypted one follows the first.
      for await (const { data } of store.read(stream, { direction: 'backwards', limit: 1 })) {
        const { sealedRecurringToken, ...owner } = recurringTokenStoredSchema.parse(data);
        return {
          ...owner,
          serviceRecurringToken: vault.open(sealedRecurringToken, recurringTokenContext(stream, owner)),
        };
      }
      return undefined;
    },
  };
}
