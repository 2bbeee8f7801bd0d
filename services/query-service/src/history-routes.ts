/** Routes of the history of a payment or payout, straight from its events. */
import type { EventStore, RecordedEvent } from '@tollgate/event-store';
import {
  decodePaymentEvent,
  decodePayoutEvent,
  eventMetadataSchema,
  statusOfPayoutPhase,
  statusOfPhase,
  type Actor,
  type EventMetadata,
  isOwnedBy,
  isToken,
} from '@tollgate/core';
import { toIso, toPublicEventData, toPublicPayoutEventData } from '@tollgate/gateway-api';
import { addReadRoute, parameterOf, routes, sendError, tellPosition } from '@tollgate/gateway-api/http';
import {
  paymentKind,
  payoutKind,
  streamOf,
  type ViewEnvelope,
  type ViewKind,
  type PaymentView,
  type PayoutView,
} from '@tollgate/views';
import type { FastifyInstance } from 'fastify';
import type { ReadDependencies } from './reading.ts';

/** Without operators' data: the names of people, and the origin of a request. */
function toPublicActor(actor: Actor) {
  if (actor.kind === 'person') return { kind: 'person' };
  if (actor.kind === 'service') return actor;
  const { kind, team, keyId } = actor;
  return { kind, team, keyId };
}

/** How the history of one kind is shown. */
interface HistoryKind<View extends ViewEnvelope> {
  kind: ViewKind<View>;
  stateOf(view: View): { phase: string; status: string };
  toData(recorded: RecordedEvent): Record<string, unknown>;
  notFound: 'payment_not_found' | 'payout_not_found';
}

const paymentHistory: HistoryKind<PaymentView> = {
  kind: paymentKind,
  stateOf: ({ payment: { phase } }) => ({ phase, status: statusOfPhase(phase) }),
  toData: (recorded) => toPublicEventData(decodePaymentEvent(recorded)),
  notFound: 'payment_not_found',
};

const payoutHistory: HistoryKind<PayoutView> = {
  kind: payoutKind,
  stateOf: ({ payout: { phase } }) => ({ phase, status: statusOfPayoutPhase(phase) }),
  toData: (recorded) => toPublicPayoutEventData(decodePayoutEvent(recorded)),
  notFound: 'payout_not_found',
};

export function registerHistoryRoutes(app: FastifyInstance, deps: ReadDependencies): void {
  addHistory(app, deps, routes.listPaymentEvents, routes.listPaymentEventsOfAny, paymentHistory);
  addHistory(app, deps, routes.listPayoutEvents, routes.listPayoutEventsOfAny, payoutHistory);
}

/** Every event of a payment or payout, in order: for its team, and for operators with people and each event as stored. */
function addHistory<View extends ViewEnvelope>(
  app: FastifyInstance,
  deps: ReadDependencies,
  ofTeam: OwnHistory,
  ofAny: AnyHistory,
  { kind, stateOf, toData, notFound }: HistoryKind<View>,
): void {
  const toEvent = ({ recorded, view, cause: { recordedAt, ...cause } }: Step<View>) => {
    const { revision, type } = recorded;
    return { revision, type, at: toIso(recordedAt), ...stateOf(view), cause, data: toData(recorded) };
  };
  addReadRoute(app, deps, ofTeam, async ({ caller, request, reply }) => {
    const steps = await readSteps(deps.store, kind, parameterOf(request, 'token'));
    const last = steps.at(-1)?.view;
    if (last === undefined || !isOwnedBy(kind.ownerOf(last), caller)) return sendError(reply, notFound);
    tellPosition(reply, [last]);
    const events = steps
      .map(toEvent)
      .map(({ cause, ...event }) => ({ ...event, cause: { ...cause, actor: toPublicActor(cause.actor) } }));
    return reply.send({ success: true, events });
  });
  addReadRoute(app, deps, ofAny, async ({ request, reach, reply }) => {
    const steps = await readSteps(deps.store, kind, parameterOf(request, 'token'));
    const last = steps.at(-1)?.view;
    if (last === undefined || !reach.includes(kind.ownerOf(last))) return sendError(reply, notFound);
    const events = steps.map((step) => {
      const { type, data, metadata } = step.recorded;
      return { ...toEvent(step), stored: { type, data, metadata } };
    });
    return reply.send({ success: true, events });
  });
}

type OwnHistory = (typeof routes)['listPaymentEvents' | 'listPayoutEvents'];
type AnyHistory = (typeof routes)['listPaymentEventsOfAny' | 'listPayoutEventsOfAny'];

interface Step<View> {
  recorded: RecordedEvent;
  view: View;
  cause: Pick<EventMetadata, 'recordedAt' | 'correlationId' | 'causationId' | 'actor'>;
}

/** Each event with the view after it, and its cause. */
async function readSteps<View extends ViewEnvelope>(
  store: EventStore,
  kind: ViewKind<View>,
  token: string,
): Promise<Step<View>[]> {
  const steps: Step<View>[] = [];
  let view: View | undefined;
  if (isToken(token))
    for await (const recorded of store.read(streamOf(kind, token))) {
      view = kind.fold(view, recorded);
      const { recordedAt, correlationId, causationId, actor } = eventMetadataSchema.parse(recorded.metadata);
      steps.push({ recorded, view, cause: { recordedAt, correlationId, causationId, actor } });
    }
  return steps;
}
