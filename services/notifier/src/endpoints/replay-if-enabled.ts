/** Undoes what a sender did that did not know yet that an endpoint had been enabled. */
import type { RecordedEvent } from '@tollgate/event-store';
import type { Actor } from '@tollgate/payment-domain';
import { decodeWebhookEvent, endpointOfToken } from '../webhook-events.ts';
import type { WebhookJournal } from '../webhook-journal.ts';
import type { EndpointDirectory } from './endpoint-directory.ts';

const notifier: Actor = { kind: 'service', name: 'notifier' };

/**
 * Replays a webhook that was given up without an attempt behind the event that enabled its endpoint: a team that replays what was given
 * up while it was disabled has not found this one yet. The order of the store decides, so it may be read again.
 */
export async function replayIfEnabled(
  { journal, endpoints }: { journal: WebhookJournal; endpoints: Pick<EndpointDirectory, 'enabledSince'> },
  token: string,
  event: RecordedEvent,
): Promise<void> {
  const endpoint = endpointOfToken(token);
  const since = endpoint === undefined ? undefined : endpoints.enabledSince(endpoint);
  if (since === undefined || event.position < since) return;
  const { id, at } = decodeWebhookEvent(event).data;
  const { state } = await journal.load(token);
  const webhook = state.webhooks.find((each) => each.id === id);
  const wasTried = webhook?.deliveries.at(-1)?.at === at;
  if (webhook?.state === 'given_up' && !wasTried)
    await journal.requestReplay(token, id, notifier, 'given_up');
}
