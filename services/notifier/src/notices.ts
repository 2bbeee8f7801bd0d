/** The webhooks that become due by an event. */
import { createHash } from 'node:crypto';
import type { RecordedEvent } from '@tollgate/event-store';
import type { ViewEnvelope } from '@tollgate/views';
import type { WebhookBody, WebhookEventOf } from './webhook-events.ts';
import type { Subject } from './subjects.ts';

export type DueWebhook = WebhookEventOf<'WebhookDue'>['data'];

/** A payment or payout right before and right after an event. */
export interface Step<View extends ViewEnvelope = ViewEnvelope> {
  before: View | undefined;
  after: View;
}

/**
 * The webhooks in the order in which they go out. A creation is not told: its caller has the answer. The same event
 * gives the same webhooks with the same ids, so it may be read again.
 */
export function noticesOf<View extends ViewEnvelope>(
  { toldOf, bodiesOf }: Pick<Subject<View>, 'toldOf' | 'bodiesOf'>,
  event: RecordedEvent,
  { before, after }: Step<View>,
  now: number,
): DueWebhook[] {
  const { environment, team, terms } = toldOf(after);
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
