/** The service's recurring tokens behind the aliases that teams know. */
import type { EventStore } from '@tollgate/event-store';
import {
  type EventMetadata,
  type RecurringToken,
  firstSchemaVersion,
  recurringStream,
  recurringTokenStored,
  recurringTokenStoredSchema,
} from '@tollgate/payment-domain';
import type { Clock, Ids } from '@tollgate/service-kit';
import type { Cause } from './repository.ts';

export interface RecurringTokens {
  /** The first one stays: an alias never comes to mean another card. @throws StoreUnavailable */
  keep(alias: string, recurringToken: RecurringToken, cause: Cause): Promise<void>;
  find(alias: string): Promise<RecurringToken | undefined>;
}

export function createRecurringTokens(deps: { store: EventStore; clock: Clock; ids: Ids }): RecurringTokens {
  const { store, clock, ids } = deps;
  return {
    async keep(alias, data, cause) {
      const metadata: EventMetadata = {
        schemaVersion: firstSchemaVersion,
        ...cause,
        recordedAt: clock.now(),
      };
      const event = { id: ids.uuid(), type: recurringTokenStored, data, metadata };
      await store.append(recurringStream(alias), [event], 'no-stream');
    },
    async find(alias) {
      for await (const { data } of store.read(recurringStream(alias), { limit: 1 }))
        return recurringTokenStoredSchema.parse(data);
      return undefined;
    },
  };
}
