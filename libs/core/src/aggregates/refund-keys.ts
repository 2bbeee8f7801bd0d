/** Stores the first use of each idempotency key of a refund. */
import { type EventStore, notShown } from '@tollgate/event-store';
import { type EventMetadata } from '../domain/event-metadata.ts';
import { type RefundKey, refundKeyStream, refundKeyUsed, refundKeyUsedSchema } from '../domain/refund-key.ts';
import { firstSchemaVersion } from '../domain/schema-version.ts';
import type { Clock, Ids } from '@tollgate/service-kit';
import type { Cause } from './repository.ts';

export interface RefundKeys {
  /** Returns the first use of the key: `use` itself, or an earlier request. @throws StoreUnavailable */
  claim(refundToken: string, use: RefundKey, cause: Cause): Promise<RefundKey>;
}

export function createRefundKeys(deps: { store: EventStore; clock: Clock; ids: Ids }): RefundKeys {
  const { store, clock, ids } = deps;
  return {
    async claim(refundToken, use, cause) {
      const stream = refundKeyStream(refundToken);
      const metadata: EventMetadata = {
        schemaVersion: firstSchemaVersion,
        ...cause,
        recordedAt: clock.now(),
      };
      const event = { id: ids.uuid(), type: refundKeyUsed, data: use, metadata };
      const answer = await store.append(stream, [event], 'no-stream');
      if (answer.kind === 'appended') return use;
      for await (const { data } of store.read(stream, { limit: 1 })) return refundKeyUsedSchema.parse(data);
      throw notShown(stream);
    },
  };
}
