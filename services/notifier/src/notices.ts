/** The webhooks that an event makes due, and for whom. */
import { createHash } from 'node:crypto';
import type { Position, RecordedEvent, Step } from '@tollgate/event-store';
import type { ViewEnvelope } from '@tollgate/views';
import { toIso, type WebhookBody } from '@tollgate/gateway-api';
import { eventMetadataSchema } from '@tollgate/payment-domain';
import { isSubscribedTo } from './endpoints/endpoint.ts';
import type { KnownEndpoint } from './endpoints/endpoint-directory.ts';
import { tokenAtEndpoint, type WebhookEventOf } from './webhook-events.ts';
import type { Subject } from './subjects.ts';

export type DueWebhook = WebhookEventOf<'WebhookDue'>['data'];

/** What is due for one receiver. */
export interface Notices {
  /** Of the stream that the receiver's webhooks are in. */
  token: string;
  due: readonly DueWebhook[];
}

/** Where webhooks about one payment or payout go. */
type NoticeReceiver = { url: string; endpoint?: undefined } | { url: string; endpoint: KnownEndpoint };

/**
 * The webhooks for each receiver in the order in which they are sent: its own `callbackUrl` first, then the endpoints that
 * there were before the event. A creation causes none: its caller has the answer. The same event yields the same webhooks
 * with the same ids, so it may be read again.
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
  // Receivers put them in order by it.
  const whenAndWhich = { sequence: event.revision, occurredAt: toIso(recordedAt) };
  return receivers
    .map(({ url, endpoint }) => ({
      token: endpoint === undefined ? after.token : tokenAtEndpoint(endpoint.id, after.token),
      due: bodies
        .filter((body) => endpoint === undefined || isSubscribedTo(endpoint, body))
        .map((body) => ({
          ...{ id: idOf(after.token, event, body, endpoint?.id), environment, team, url, at: now },
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
