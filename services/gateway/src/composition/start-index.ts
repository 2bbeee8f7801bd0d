import type { PaymentIndex } from '@tollgate/view-index';
import type { Clock } from '@tollgate/service-kit';

export const indexWaitMs = 2_000;

/**
 * Starts the index from which lists are answered. A small one is complete before the first request, and no payment waits
 * for a large one: this resolves after `indexWaitMs` at the latest, and the rebuild continues.
 *
 * @throws StartupError if the file cannot be used.
 */
export async function startIndex(index: Pick<PaymentIndex, 'start'>, clock: Clock): Promise<void> {
  const waiting = new AbortController();
  const waited = clock.sleep(indexWaitMs, waiting.signal).catch(() => undefined);
  await Promise.race([index.start(), waited]).finally(() => waiting.abort());
}
