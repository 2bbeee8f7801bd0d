/** The history of a payment, straight from its events. */
import type { EventStore, RecordedEvent } from '@tollgate/event-store';
import type { PaymentStatus } from '@tollgate/payment-api/values';
import {
  decodePaymentEvent,
  eventMetadataSchema,
  paymentStream,
  statusOfPhase,
  type Actor,
  type PaymentEventType,
  type PaymentPhase,
} from '@tollgate/payment-domain';
import {
  foldPaymentDocument,
  toIso,
  toPublicEventData,
  type Caller,
  type PaymentDocument,
  type PublicEventData,
} from '@tollgate/read-models';
import { isOwnedBy, isToken } from './payment-reader.ts';

export interface HistoryEntry {
  revision: number;
  type: PaymentEventType;
  /** When it was decided, ISO 8601 in UTC. */
  at: string;
  /** Phase and status of the payment after the event. */
  phase: PaymentPhase;
  status: PaymentStatus;
  cause: { correlationId: string; causationId: string; actor: Actor };
  data: PublicEventData;
}

/** Every event of a caller's payment in order, or undefined where the caller has no payment of this token. */
export async function readHistory(
  store: EventStore,
  caller: Caller,
  token: string,
): Promise<HistoryEntry[] | undefined> {
  if (!isToken(token)) return undefined;
  const entries: HistoryEntry[] = [];
  let document: PaymentDocument | undefined;
  for await (const event of store.read(paymentStream(token))) {
    document = foldPaymentDocument(document, event);
    if (!isOwnedBy(document.payment, caller)) return undefined;
    entries.push(toEntry(event, document.payment.phase));
  }
  return document === undefined ? undefined : entries;
}

function toEntry(recorded: RecordedEvent, phase: PaymentPhase): HistoryEntry {
  const event = decodePaymentEvent(recorded);
  const { recordedAt, correlationId, causationId, actor } = eventMetadataSchema.parse(recorded.metadata);
  return {
    revision: recorded.revision,
    type: event.type,
    at: toIso(recordedAt),
    phase,
    status: statusOfPhase(phase),
    cause: { correlationId, causationId, actor },
    data: toPublicEventData(event),
  };
}
