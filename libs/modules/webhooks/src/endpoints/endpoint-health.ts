/** Disables endpoints that no longer accept their webhooks. */
import type { Clock, Log } from '@tollgate/service-kit';
import { retryPausesMs } from '../retry-schedule.ts';
import { notifier } from '../webhook-journal.ts';
import { isAccepted, isGone, type Outcome, type Webhook } from '../webhook-state.ts';
import type { EndpointBook } from './endpoint-book.ts';

export type EndpointHealth = ReturnType<typeof createEndpointHealth>;

export function createEndpointHealth({
  book,
  clock,
  log,
}: {
  book: Pick<EndpointBook, 'change'>;
  clock: Clock;
  log: Log;
}) {
  /** Since this process began to deliver: one webhook that is always refused does not count against the others. */
  const lastDeliveredAt = new Map<string, number>();

  function reasonOf(webhook: Webhook, endpoint: string, outcome: Outcome): 'gone' | 'given_up' | undefined {
    if (webhook.body.type === 'test' || outcome.kind === 'abandoned') return undefined;
    if (isGone(webhook, outcome)) return 'gone';
    const isGivenUp = webhook.state === 'open' && webhook.failuresInRow >= retryPausesMs.length;
    const since = webhook.deliveries.at(-webhook.failuresInRow)?.at ?? 0;
    return isGivenUp && (lastDeliveredAt.get(endpoint) ?? -1) < since ? 'given_up' : undefined;
  }

  return {
    /** Call before the outcome of the attempt that began then is recorded. @throws errors of the store */
    async note(webhook: Webhook, outcome: Outcome, triedAt: number): Promise<void> {
      const { id, environment, team, endpoint } = webhook;
      if (endpoint === undefined) return;
      const at = clock.now();
      if (isAccepted(outcome)) {
        lastDeliveredAt.set(endpoint, at);
        return;
      }
      const reason = reasonOf(webhook, endpoint, outcome);
      if (reason === undefined) return;
      const command = { type: 'Disable', id: endpoint, reason, webhook: id, triedAt, at } as const;
      const answer = await book.change({ environment, team }, command, notifier);
      if (answer.kind === 'done' && answer.events.length > 0)
        log.warn({ team, token: endpoint, code: reason }, 'a webhook endpoint is disabled');
    },
  };
}
