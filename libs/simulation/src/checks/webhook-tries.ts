/**
 * While processes share the webhooks by different numbers, as in the middle of a change, two may try the same one at once, and each try
 * counts: after a minute of failures the next is hours away (seeds 47138, 51601).
 */
import type { RecordedEvent } from '@tollgate/event-store';

/** After so many the pause is two hours and more. */
const failuresMany = 4;

interface Tried {
  failures: number;
  /** When the next was due. */
  nextAt: number;
  /** One was made before it was due: another process had begun it as well. */
  isTwofold: boolean;
}

export interface WebhookTries {
  onRecorded(event: RecordedEvent): void;
  /** Whether what the stream still has to send comes later than anybody waits for here. */
  areUsedUp(stream: string): boolean;
}

export function createWebhookTries(): WebhookTries {
  const byStream = new Map<string, Map<string, Tried>>();
  return {
    onRecorded: ({ stream, type, data }) => {
      const { id, at, nextAt } = data as { id: string; at: number; nextAt?: number };
      const own = byStream.get(stream) ?? new Map<string, Tried>();
      byStream.set(stream, own);
      if (type !== 'DeliveryFailed') own.delete(id);
      if (type !== 'DeliveryFailed' || nextAt === undefined) return;
      const before = own.get(id);
      own.set(id, {
        failures: (before?.failures ?? 0) + 1,
        nextAt,
        isTwofold: before !== undefined && (before.isTwofold || at < before.nextAt),
      });
    },
    areUsedUp: (stream) =>
      [...(byStream.get(stream)?.values() ?? [])].some(
        ({ failures, isTwofold }) => isTwofold && failures >= failuresMany,
      ),
  };
}
