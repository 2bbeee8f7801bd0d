/** Undoes what a sender did that did not know yet that an endpoint had been enabled. */
import type { EventStore, RecordedEvent } from '@tollgate/event-store';
import { type Log, isRetryable } from '@tollgate/service-kit';
import { decodeWebhookEvent, endpointOfQueue, queueOfStream } from '../webhook-events.ts';
import { type WebhookJournal, notifier } from '../webhook-journal.ts';
import type { EndpointDirectory } from './endpoint-directory.ts';

interface Undoing {
  store: Pick<EventStore, 'read'>;
  journal: Pick<WebhookJournal, 'requestReplay'>;
  endpoints: Pick<EndpointDirectory, 'enabledSince'>;
  log: Log;
}

/**
 * Replays a webhook that was given up without an attempt behind the event that enabled its endpoint: a team that replays what was given
 * up while it was disabled has not found this one yet. The streams decide, so the event may be read again.
 *
 * @throws what the store throws; a stream that cannot be read is logged
 */
export async function replayIfEnabled(deps: Undoing, event: RecordedEvent): Promise<void> {
  const token = queueOfStream(event.stream);
  const endpoint = endpointOfQueue(token);
  const since = endpoint === undefined ? undefined : deps.endpoints.enabledSince(endpoint);
  if (since === undefined || event.position < since) return;
  try {
    const { id } = decodeWebhookEvent(event).data;
    if (!(await isUntried(deps, event, id))) return;
    const answer = await deps.journal.requestReplay(token, id, notifier, 'given_up');
    if (answer.kind === 'refused')
      deps.log.warn(
        { token, code: answer.refusal.code },
        'a webhook stays given up, though its endpoint is enabled',
      );
  } catch (error) {
    if (isRetryable(error)) throw error;
    deps.log.error({ error, token }, 'the webhooks of a subject cannot be read; they are skipped');
  }
}

/** No attempt ended with it, and nothing has happened to the webhook since. */
async function isUntried({ store }: Undoing, event: RecordedEvent, id: string): Promise<boolean> {
  for await (const other of store.read(event.stream, { from: Math.max(0, event.revision - 1) })) {
    if (other.revision === event.revision) continue;
    const { type, data } = decodeWebhookEvent(other);
    if (data.id !== id) continue;
    if (other.revision > event.revision) return false;
    // It was recorded with it.
    if (type === 'DeliveryFailed' && data.nextAt === undefined) return false;
  }
  return true;
}
