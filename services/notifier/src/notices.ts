/** The webhooks that an event makes due. */
import { createHash } from 'node:crypto';
import type { RecordedEvent, Step } from '@tollgate/event-store';
import type { ViewEnvelope } from '@tollgate/views';
import type { WebhookBody } from '@tollgate/gateway-api';
import type { WebhookEventOf } from './webhook-events.ts';
import type { Subject } from './subjects.ts';

export type DueWebhook = WebhookEventOf<'WebhookDue'>['data'];

/**
 * The webhooks in the order in which they are sent. A creation causes none: its caller has the answer. The same event
 * yields the same webhooks with the same ids, so it may be read again.
 */
export function noticesOf<View extends ViewEnvelope>(
  { termsOf, bodiesOf }: Pick<Subject<View>, 'termsOf' | 'bodiesOf'>,
  event: RecordedEvent,
  { before, after }: Step<View>,
  now: number,
): DueWebhook[] {
  const { environment, team, terms } = termsOf(after);
  const { callbackUrl: url } = terms;
  if (before === undefined || url === undefined) return [];
  return bodiesOf(before, after).map((body) => ({
    ...{ id: idOf(after.token, event, body), environment, team, url, body, at: now },
  }));
}

// An event id is unique within its stream only.
const idOf = (subjectToken: string, event: RecordedEvent, { type, token }: WebhookBody): string => {
  const hash = createHash('sha256').update(JSON.stringify([subjectToken, event.id, type, token]));
  return `whk_${hash.digest('hex').slice(0, 32)}`;
};
