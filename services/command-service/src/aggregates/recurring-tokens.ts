/** The service's recurring tokens behind the aliases that teams know: encrypted, because each charges a card again. */
import type { EventStore } from '@tollgate/event-store';
import {
  type EventMetadata,
  type StoredRecurringToken,
  firstSchemaVersion,
  recurringStream,
  recurringTokenStored,
  recurringTokenStoredSchema,
} from '@tollgate/payment-domain';
import type { Clock, Ids, Vault } from '@tollgate/service-kit';
import type { Cause } from './repository.ts';

type RecurringToken = Omit<StoredRecurringToken, 'sealedRecurringToken'> & {
  serviceRecurringToken: string;
};

export interface RecurringTokens {
  /** The first one stays: an alias never comes to mean another card. @throws StoreUnavailable */
  keep(alias: string, recurringToken: RecurringToken, cause: Cause): Promise<void>;
  /** @throws TollgateError `key_unknown`, `sealed_data_damaged` where it cannot be decrypted */
  find(alias: string): Promise<RecurringToken | undefined>;
}

export function createRecurringTokens(deps: {
  store: EventStore;
  vault: Vault;
  clock: Clock;
  ids: Ids;
}): RecurringTokens {
  const { store, vault, clock, ids } = deps;
  return {
    async keep(alias, { serviceRecurringToken, ...owner }, cause) {
      const stream = recurringStream(alias);
      const sealedRecurringToken = await vault.seal(serviceRecurringToken, stream);
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
    async find(alias) {
      const stream = recurringStream(alias);
      for await (const { data } of store.read(stream, { limit: 1 })) {
        const { sealedRecurringToken, ...owner } = recurringTokenStoredSchema.parse(data);
        return { ...owner, serviceRecurringToken: await vault.open(sealedRecurringToken, stream) };
      }
      return undefined;
    },
  };
}
