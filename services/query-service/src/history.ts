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
import { toIso, toPublicEventData, toPublicPayoutEventData } from '@tollgate/gateway-api';
import { isOwnedBy, isToken, type Caller } from '@tollgate/teams';
import {
  paymentKind,
  payoutKind,
  streamOf,
  type ViewEnvelope,
  type ViewKind,
  type PaymentView,
  type PayoutView,
} from '@tollgate/views';

interface HistoryEntry {
  revision: number;
  type: string;
  /** When it was decided, ISO 8601 in UTC. */
  at: string;
  /** Phase and status after the event. */
  phase: string;
  status: string;
  cause: { correlationId: string; causationId: string; actor: PublicActor };
  data: Record<string, unknown>;
}

type PublicActor =
  { kind: 'team'; team: string; keyId: string } | { kind: 'person' } | { kind: 'service'; name: string };

/** Without what is for the operators only: the names of their people, and from where a request came. */
function toPublicActor(actor: Actor): PublicActor {
  if (actor.kind === 'person') return { kind: 'person' };
  if (actor.kind === 'service') return actor;
  const { kind, team, keyId } = actor;
  return { kind, team, keyId };
}

/** How the history of one kind is shown. */
export interface HistoryKind<View extends ViewEnvelope> {
  kind: ViewKind<View>;
  stateOf(view: View): { phase: string; status: string };
  toData(recorded: RecordedEvent): Record<string, unknown>;
}

export const paymentHistory: HistoryKind<PaymentView> = {
  kind: paymentKind,
  stateOf: ({ payment: { phase } }) => ({ phase, status: statusOfPhase(phase) }),
  toData: (recorded) => toPublicEventData(decodePaymentEvent(recorded)),
};

export const payoutHistory: HistoryKind<PayoutView> = {
  kind: payoutKind,
  stateOf: ({ payout: { phase } }) => ({ phase, status: statusOfPayoutPhase(phase) }),
  toData: (recorded) => toPublicPayoutEventData(decodePayoutEvent(recorded)),
};

interface History extends Pick<ViewEnvelope, 'position'> {
  entries: HistoryEntry[];
}

/** Every event of a caller's payment or payout, in order; undefined if the caller has none with this token. */
export async function readHistory<View extends ViewEnvelope>(
  store: EventStore,
  { kind, stateOf, toData }: HistoryKind<View>,
  { caller, token }: { caller: Caller; token: string },
): Promise<History | undefined> {
  if (!isToken(token)) return undefined;
  const entries: HistoryEntry[] = [];
  let view: View | undefined;
  for await (const recorded of store.read(streamOf(kind, token))) {
    view = kind.fold(view, recorded);
    if (!isOwnedBy(kind.ownerOf(view), caller)) return undefined;
    const { revision, type } = recorded;
    const { recordedAt, correlationId, causationId, actor } = eventMetadataSchema.parse(recorded.metadata);
    const cause = { correlationId, causationId, actor: toPublicActor(actor) };
    entries.push({
      ...{ revision, type, at: toIso(recordedAt) },
      ...stateOf(view),
      ...{ cause, data: toData(recorded) },
    });
  }
  return view && { entries, position: view.position };
}
