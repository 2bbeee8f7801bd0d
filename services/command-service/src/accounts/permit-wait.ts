import { type Clock, omitUndefined } from '@tollgate/service-kit';
import type { PermitResult } from './account.ts';
import type { AccountGate, Waiter } from './account-gate.ts';
import type { Purpose } from './account-terms.ts';

/** How long a caller waits for a permit at most, milliseconds: it holds an HTTP request open. */
export const permitWaitMs = 2_000;

/** Waits in the queues of all `gates` at once, and takes the first permit that any of them has. */
export function waitForAny(
  gates: readonly AccountGate[],
  purpose: Purpose,
  clock: Clock,
): Promise<PermitResult> {
  return new Promise((resolve) => {
    const queues = new Set<AccountGate>();
    const enough = new AbortController();
    function end(result: PermitResult): void {
      for (const gate of queues) gate.leave(waiter);
      enough.abort();
      resolve(result);
    }
    const giveUp = () => end(unavailable(gates, purpose));
    const waiter: Waiter = {
      purpose,
      take: (permit) => end({ kind: 'permit', permit }),
      turnedAway(gate) {
        queues.delete(gate);
        if (queues.size === 0) giveUp();
      },
    };
    for (const gate of gates) if (gate.queue(waiter)) queues.add(gate);
    if (queues.size === 0) return giveUp();
    clock.sleep(permitWaitMs, enough.signal).then(giveUp, () => undefined);
  });
}

export function unavailable(gates: readonly AccountGate[], purpose: Purpose): PermitResult {
  const retryAfterSeconds = Math.min(...gates.map((gate) => gate.retryAfterSeconds(purpose)));
  const states = gates.map((gate) => gate.terms.closedTo(purpose));
  const closed = states.includes(undefined) ? undefined : states[0];
  return { kind: 'unavailable', retryAfterSeconds, ...omitUndefined({ closed }) };
}
