/** The notifications that become due by an event. */
import { createHash } from 'node:crypto';
import type { RecordedEvent } from '@tollgate/event-store';
import type { DocumentEnvelope } from '@tollgate/read-models';
import type { NotificationBody, NotificationEventOf } from './notification-events.ts';
import type { Subject } from './subjects.ts';

export type DueNotification = NotificationEventOf<'NotificationDue'>['data'];

/** A payment or payout right before and right after an event. */
export interface Step<Document extends DocumentEnvelope = DocumentEnvelope> {
  before: Document | undefined;
  after: Document;
}

/**
 * The notifications in the order in which they go out. A creation is not told: its caller has the answer. The same event
 * gives the same notifications with the same ids, so it may be read again.
 */
export function noticesOf<Document extends DocumentEnvelope>(
  { toldOf, bodiesOf }: Pick<Subject<Document>, 'toldOf' | 'bodiesOf'>,
  event: RecordedEvent,
  { before, after }: Step<Document>,
  now: number,
): DueNotification[] {
  const { environment, team, terms } = toldOf(after);
  const { callbackUrl: url } = terms;
  if (before === undefined || url === undefined) return [];
  return bodiesOf(before, after).map((body) => ({
    ...{ id: idOf(after.token, event, body), environment, team, url, body, at: now },
  }));
}

// An event id is unique within its stream only.
const idOf = (subjectToken: string, event: RecordedEvent, { type, token }: NotificationBody): string => {
  const hash = createHash('sha256').update(JSON.stringify([subjectToken, event.id, type, token]));
  return `ntf_${hash.digest('hex').slice(0, 32)}`;
};
