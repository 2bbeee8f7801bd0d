import type { RecordedEvent } from '@tollgate/event-store';
import type { EventOnTopic, RecordOrigin } from '@tollgate/gateway-events';
import { eventMetadataSchema } from '@tollgate/payment-domain';
import type { PublicEventData } from '@tollgate/views';
import { given } from '@tollgate/service-kit';

/** What a record says of an event beside its data. @throws z.ZodError for metadata that no version of ours has written */
export function toEventOnTopic(
  recorded: RecordedEvent,
  data: PublicEventData,
): { event: EventOnTopic; origin: RecordOrigin } {
  const { correlationId, recordedAt, traceparent } = eventMetadataSchema.parse(recorded.metadata);
  const { id, type, revision, position } = recorded;
  const time = new Date(recordedAt).toISOString();
  return {
    event: { id, type, time, sequence: revision, correlationId, data: withoutAddresses(data) },
    origin: { position, ...given({ traceparent }) },
  };
}

// A team reads its addresses back through the API. A topic has more readers, and addresses carry secrets.
function withoutAddresses(data: PublicEventData): PublicEventData {
  const isAddress = (name: string) => name.endsWith('Url');
  return Object.fromEntries(Object.entries(data).filter(([name]) => !isAddress(name)));
}
