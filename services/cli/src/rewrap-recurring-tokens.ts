import {
  recurringStream,
  recurringTokenContext,
  recurringTokenStored,
  recurringTokenStoredSchema,
} from '@tollgate/core';
import { type EventStore, beginning, eventsUntilNow, firstSchemaVersion } from '@tollgate/event-store';
import { type Clock, type Ids, type Vault, keyIdOf } from '@tollgate/service-kit';

/** Streams with a recurring token under another master than this one. */
async function streamsUnderOthers(store: EventStore, keyId: string): Promise<string[]> {
  const last = new Map<string, string | undefined>();
  const options = { from: beginning, prefixes: [recurringStream('')] };
  for await (const { stream, data } of eventsUntilNow(store, options)) {
    const { sealedRecurringToken } = recurringTokenStoredSchema.parse(data);
    // Hidden events may arrive in any order: a re-encrypted token stays re-encrypted.
    if (last.get(stream) !== keyId) last.set(stream, keyIdOf(sealedRecurringToken));
  }
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
