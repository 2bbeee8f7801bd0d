import type { Clock } from '@tollgate/service-kit';
import type { PermitResult } from './account.ts';
import type { AccountGate, Waiter } from './account-gate.ts';

/** How long a caller waits for a permit at most, milliseconds: it holds an HTTP request open. */
export const permitWaitMs = 2_000;

/** Waits in the queues of all `gates` at once, and takes the first permit that any of them has. */
export function waitForAny(gates: readonly AccountGate[], clock: Clock): Promise<PermitResult> {
  return new Promise((resolve) => {
    const queues = new Set<AccountGate>();
    const enough = new AbortController();
    function end(result: PermitResult): void {
      for (const gate of queues) gate.leave(waiter);
      enough.abort();
      resolve(result);
    }
    const giveUp = () => end(unavailable(gates));
    const waiter: Waiter = {
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

export const unavailable = (gates: readonly AccountGate[]): PermitResult => ({
  kind: 'unavailable',
  retryAfterSeconds: Math.min(...gates.map((gate) => gate.retryAfterSeconds())),
});
