import type { PaymentIndex } from '@tollgate/view-index';
import type { Clock } from '@tollgate/service-kit';

export const indexWaitMs = 2_000;

/**
 * Begins to build the index that lists are answered from. A small one is whole before anybody asks, and nobody's payment
 * waits for a large one: this resolves after `indexWaitMs` at the latest, and the building goes on.
 *
 * @throws StartupError where the file cannot be used.
 */
export async function startIndex(index: Pick<PaymentIndex, 'start'>, clock: Clock): Promise<void> {
  const waiting = new AbortController();
  const waited = clock.sleep(indexWaitMs, waiting.signal).catch(() => undefined);
  await Promise.race([index.start(), waited]).finally(() => waiting.abort());
}
