/** The history of a payment or payout, straight from its events. */
import type { EventStore, RecordedEvent } from '@tollgate/event-store';
import {
  decodePaymentEvent,
  decodePayoutEvent,
  eventMetadataSchema,
  statusOfPayoutPhase,
  statusOfPhase,
  type Actor,
  isOwnedBy,
  isToken,
} from '@tollgate/core';
import { toIso, toPublicEventData, toPublicPayoutEventData } from '@tollgate/gateway-api';
import { type Caller, type Reach } from '@tollgate/teams';
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

/** Without operators' data: the names of people, and the origin of a request. */
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
  const steps = await readSteps(store, kind, token);
  const last = steps.at(-1)?.view;
  if (last === undefined || !isOwnedBy(kind.ownerOf(last), caller)) return undefined;
  const entries = steps.map(({ recorded, view, cause: { recordedAt, ...cause } }) => ({
    revision: recorded.revision,
    type: recorded.type,
    at: toIso(recordedAt),
    ...stateOf(view),
    cause: { ...cause, actor: toPublicActor(cause.actor) },
    data: toData(recorded),
  }));
  return { entries, position: last.position };
}

/** As {@link readHistory}, for operators: with people, and with each event as stored. */
export async function readOperatorHistory<View extends ViewEnvelope>(
  store: EventStore,
  { kind, stateOf, toData }: HistoryKind<View>,
  { token, reach }: { token: string; reach: Reach },
) {
  const steps = await readSteps(store, kind, token);
  const last = steps.at(-1)?.view;
  if (last === undefined || !reach.includes(kind.ownerOf(last))) return undefined;
  return steps.map(({ recorded, view, cause: { recordedAt, ...cause } }) => {
    const { revision, type, data, metadata } = recorded;
    const stored = { type, data, metadata };
    return { revision, type, at: toIso(recordedAt), ...stateOf(view), cause, data: toData(recorded), stored };
  });
}

/** Each event with the view after it, and its cause. */
async function readSteps<View extends ViewEnvelope>(store: EventStore, kind: ViewKind<View>, token: string) {
  const steps = [];
  let view: View | undefined;
  if (isToken(token))
    for await (const recorded of store.read(streamOf(kind, token))) {
      view = kind.fold(view, recorded);
      const { recordedAt, correlationId, causationId, actor } = eventMetadataSchema.parse(recorded.metadata);
      steps.push({ recorded, view, cause: { recordedAt, correlationId, causationId, actor } });
    }
  return steps;
}
