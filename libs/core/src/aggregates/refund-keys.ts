/**
 * The first use of each idempotency key of a refund (stream `refund-<refund token>`). The refund itself is part of its
 * payment; this distinguishes a replay from another request under the same key, whichever payment it names.
 */
import { type EventStore, notShown, firstSchemaVersion } from '@tollgate/event-store';
import { type EventMetadata } from '../domain/event-metadata.ts';
import { environmentSchema } from '../domain/values.ts';
import type { Clock, Ids } from '@tollgate/service-kit';
import type { Cause } from './repository.ts';
import { z } from 'zod';

export const refundKeyUsedSchema = z.object({
  environment: environmentSchema,
  team: z.string(),
  paymentToken: z.string(),
  /** Keyed hash over the validated request, `<kid>.<mac>`. */
  fingerprint: z.string(),
});
export type RefundKey = z.infer<typeof refundKeyUsedSchema>;

export const refundKeyUsed = 'RefundKeyUsed';
export const refundKeyStream = (refundToken: string): string => `refund-${refundToken}`;

export type RefundKeys = ReturnType<typeof createRefundKeys>;

export function createRefundKeys(deps: { store: EventStore; clock: Clock; ids: Ids }) {
  const { store, clock, ids } = deps;
  return {
    /** Returns the first use of the key: `use` itself, or an earlier request. @throws StoreUnavailable */
    async claim(refundToken: string, use: RefundKey, cause: Cause): Promise<RefundKey> {
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
