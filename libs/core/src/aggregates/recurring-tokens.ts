/**
 * The provider's recurring tokens behind our aliases (stream `recurring-<alias>`): a team charges the alias, through the
 * account of the first payment. Encrypted, because each can charge a card, and never handed out.
 */
import { type EventStore, beginning } from '@tollgate/event-store';
import { type EventMetadata } from '../domain/event-metadata.ts';
import { environmentSchema } from '../domain/values.ts';
import { firstSchemaVersion } from '../domain/schema-version.ts';
import { type Clock, type Ids, type Vault, keyIdOf } from '@tollgate/service-kit';
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

/** Streams with a recurring token under another master than this one. */
async function streamsUnderOthers(store: EventStore, keyId: string): Promise<string[]> {
  const last = new Map<string, string | undefined>();
  const enough = new AbortController();
  const options = { from: beginning, prefixes: [recurringStream('')], signal: enough.signal };
  for await (const item of store.subscribe(options)) {
    if (item.kind === 'caught-up') break;
    const { sealedRecurringToken } = recurringTokenStoredSchema.parse(item.data);
    // Hidden events may arrive in any order: a re-encrypted token stays re-encrypted.
    if (last.get(item.stream) !== keyId) last.set(item.stream, keyIdOf(sealedRecurringToken));
  }
  enough.abort();
  return [...last].flatMap(([stream, known]) => (known === keyId ? [] : [stream]));
}

/**
 * Re-encrypts every recurring token under an earlier master, so that the earlier master is no longer needed.
 *
 * @param keyId the current master of the vault
 * @returns the number of re-encrypted tokens
 * @throws StoreUnavailable; TollgateError `key_unknown`
 */
export async function rewrapRecurringTokens(
  { store, vault, clock, ids }: { store: EventStore; vault: Vault; clock: Clock; ids: Ids },
  keyId: string,
): Promise<number> {
  let count = 0;
  for (const stream of await streamsUnderOthers(store, keyId))
    for await (const { data, revision } of store.read(stream, { direction: 'backwards', limit: 1 })) {
      const stored = recurringTokenStoredSchema.parse(data);
      const context = recurringTokenContext(stream, stored);
      const opened = vault.open(stored.sealedRecurringToken, context);
      const rewrapped = { ...stored, sealedRecurringToken: vault.seal(opened, context) };
      const metadata = { schemaVersion: firstSchemaVersion, recordedAt: clock.now() };
      const event = { id: ids.uuid(), type: recurringTokenStored, data: rewrapped, metadata };
      const answer = await store.append(stream, [event], revision, { keepLast: 1 });
      if (answer.kind === 'appended') count += 1;
    }
  return count;
}
