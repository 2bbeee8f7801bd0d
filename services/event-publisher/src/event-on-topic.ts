import type { RecordedEvent } from '@tollgate/event-store';
import type { EventOnTopic, RecordOrigin } from '@tollgate/gateway-api';
import { eventMetadataSchema } from '@tollgate/payment-domain';
import { omitUndefined } from '@tollgate/service-kit';

/** What a record says of an event beside its data. @throws z.ZodError for metadata that no version of ours has written */
export function toEventOnTopic(
  recorded: RecordedEvent,
  data: EventOnTopic['data'],
): { event: EventOnTopic; origin: RecordOrigin } {
  const { correlationId, recordedAt, traceparent } = eventMetadataSchema.parse(recorded.metadata);
  const { id, type, revision, position } = recorded;
  const time = new Date(recordedAt).toISOString();
  return {
    event: { id, type, time, sequence: revision, correlationId, data },
    origin: { position, ...omitUndefined({ traceparent }) },
  };
}
