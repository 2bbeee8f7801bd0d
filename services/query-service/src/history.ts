/** The history of a payment or payout, straight from its events. */
import type { EventStore, RecordedEvent } from '@tollgate/event-store';
import {
  decodePaymentEvent,
  decodePayoutEvent,
  eventMetadataSchema,
  statusOfPayoutPhase,
  statusOfPhase,
  type Actor,
} from '@tollgate/payment-domain';
import {
  isOwnedBy,
  isToken,
  paymentKind,
  payoutKind,
  streamOf,
  toIso,
  toPublicEventData,
  toPublicPayoutEventData,
  type Caller,
  type DocumentEnvelope,
  type DocumentKind,
  type PaymentDocument,
  type PayoutDocument,
  type PublicEventData,
} from '@tollgate/read-models';

export interface HistoryEntry {
  revision: number;
  type: string;
  /** When it was decided, ISO 8601 in UTC. */
  at: string;
  /** Phase and status after the event. */
  phase: string;
  status: string;
  cause: { correlationId: string; causationId: string; actor: Actor };
  data: PublicEventData;
}

/** What a history shows of one kind. */
interface HistoryKind<Document extends DocumentEnvelope> {
  kind: DocumentKind<Document>;
  stateOf(document: Document): { phase: string; status: string };
  toData(recorded: RecordedEvent): PublicEventData;
}

export const paymentHistory: HistoryKind<PaymentDocument> = {
  kind: paymentKind,
  stateOf: ({ payment: { phase } }) => ({ phase, status: statusOfPhase(phase) }),
  toData: (recorded) => toPublicEventData(decodePaymentEvent(recorded)),
};

export const payoutHistory: HistoryKind<PayoutDocument> = {
  kind: payoutKind,
  stateOf: ({ payout: { phase } }) => ({ phase, status: statusOfPayoutPhase(phase) }),
  toData: (recorded) => toPublicPayoutEventData(decodePayoutEvent(recorded)),
};

/** Every event of what a caller has under a token, in order, or undefined where there is no such thing. */
export async function readHistory<Document extends DocumentEnvelope>(
  store: EventStore,
  { kind, stateOf, toData }: HistoryKind<Document>,
  { caller, token }: { caller: Caller; token: string },
): Promise<HistoryEntry[] | undefined> {
  if (!isToken(token)) return undefined;
  const entries: HistoryEntry[] = [];
  let document: Document | undefined;
  for await (const recorded of store.read(streamOf(kind, token))) {
    document = kind.fold(document, recorded);
    if (!isOwnedBy(kind.ownerOf(document), caller)) return undefined;
    const { revision, type } = recorded;
    const { recordedAt, correlationId, causationId, actor } = eventMetadataSchema.parse(recorded.metadata);
    const cause = { correlationId, causationId, actor };
    entries.push({
      ...{ revision, type, at: toIso(recordedAt) },
      ...stateOf(document),
      ...{ cause, data: toData(recorded) },
    });
  }
  return document === undefined ? undefined : entries;
}
