/** The webhooks that an event of a payment or payout makes due, and their receivers. */
import { createHash } from 'node:crypto';
import type { EventStore, Position, RecordedEvent, Step } from '@tollgate/event-store';
import { type WebhookBody, toIso } from '@tollgate/gateway-api';
import { type Environment, eventMetadataSchema } from '@tollgate/core';
import {
  type PaymentView,
  type PayoutView,
  type ViewEnvelope,
  type ViewKind,
  paymentKind,
  payoutKind,
} from '@tollgate/views';
import { paymentBodies, payoutBodies, withRecurringToken } from './bodies.ts';
import type { KnownEndpoint } from './endpoints/endpoint-directory.ts';
import { isSubscribedTo } from './endpoints/endpoint.ts';
import { type WebhookEventOf, queueAtEndpoint } from './webhook-events.ts';

/** Shared by payments and payouts. */
interface Addressed {
  environment: Environment;
  team: string;
  terms: { callbackUrl?: string | undefined };
}

export interface Subject<View extends ViewEnvelope = ViewEnvelope> {
  kind: ViewKind<View>;
  termsOf(view: View): Addressed;
  /** The webhook bodies for the change from one state to another, in the order in which they are sent. */
  bodiesOf(before: View, after: View): WebhookBody[];
  /** The state after an event, with later events that belong in the same body. */
  completed(store: EventStore, event: RecordedEvent, after: View): Promise<View>;
}

export const paymentSubject: Subject<PaymentView> = {
  kind: paymentKind,
  termsOf: ({ payment }) => payment,
  bodiesOf: paymentBodies,
  completed: withRecurringToken,
};

export const payoutSubject: Subject<PayoutView> = {
  kind: payoutKind,
  termsOf: ({ payout }) => payout,
  bodiesOf: payoutBodies,
  completed: async (_store, _event, after) => after,
};

const subjects: readonly Subject[] = [paymentSubject, payoutSubject];

export const subjectStreamPrefixes = subjects.map(({ kind }) => kind.streamPrefix);

/** The subject of a stream; undefined for other streams. */
export const subjectOfStream = (stream: string): Subject | undefined =>
  subjects.find(({ kind }) => stream.startsWith(kind.streamPrefix));

export type DueWebhook = WebhookEventOf<'WebhookDue'>['data'];

/** Due webhooks of one receiver. */
export interface Notices {
  /** The stream of the receiver's webhooks. */
  token: string;
  due: readonly DueWebhook[];
}

/** Destination of webhooks about one payment or payout. */
type NoticeReceiver = { url: string; endpoint?: undefined } | { url: string; endpoint: KnownEndpoint };

/**
 * The webhooks for each receiver in sending order: its own `callbackUrl` first, then the endpoints that existed before the
 * event. A creation causes none: its caller has the answer. The same event yields the same webhooks with the same ids, so it
 * may be read again.
 */
export function noticesOf<View extends ViewEnvelope>(
  { termsOf, bodiesOf }: Pick<Subject<View>, 'termsOf' | 'bodiesOf'>,
  event: RecordedEvent,
  { before, after }: Step<View>,
  { endpoints, now }: { endpoints: readonly KnownEndpoint[]; now: number },
): Notices[] {
  const { environment, team, terms } = termsOf(after);
  const receivers = receiversOf(terms.callbackUrl, endpoints, event.position);
  if (before === undefined || receivers.length === 0) return [];
  const bodies = bodiesOf(before, after);
  const { recordedAt } = eventMetadataSchema.parse(event.metadata);
  // Receivers sort by it.
  const whenAndWhich = { sequence: event.revision, occurredAt: toIso(recordedAt) };
  return receivers
    .map(({ url, endpoint }) => ({
      token: endpoint === undefined ? after.token : queueAtEndpoint(endpoint.id, after.token),
      due: bodies
        .filter((body) => endpoint === undefined || isSubscribedTo(endpoint, body))
        .map((body) => ({
          id: idOf(after.token, event, body, endpoint?.id),
          environment,
          team,
          url,
          at: now,
          body: { ...body, ...whenAndWhich },
          ...(endpoint === undefined ? {} : { endpoint: endpoint.id }),
        })),
    }))
    .filter(({ due }) => due.length > 0);
}

const receiversOf = (
  callbackUrl: string | undefined,
  endpoints: readonly KnownEndpoint[],
  position: Position,
): NoticeReceiver[] => [
  ...(callbackUrl === undefined ? [] : [{ url: callbackUrl }]),
  ...endpoints.filter(({ since }) => since < position).map((endpoint) => ({ url: endpoint.url, endpoint })),
];

// An event id is unique within its stream only.
const idOf = (
  subjectToken: string,
  event: RecordedEvent,
  { type, token }: WebhookBody,
  endpoint: string | undefined,
): string => {
  const parts = [subjectToken, event.id, type, token, ...(endpoint === undefined ? [] : [endpoint])];
  return `whk_${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)}`;
};
