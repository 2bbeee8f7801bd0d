/**
 * Nothing is announced by a process that does not know the time of the store: one that has just been asleep would announce a
 * call whose window is over for everybody else, and an inquiry would give it up while it is on its way.
 */
import type { Clock } from '@tollgate/service-kit';
import type { PermitResult } from './account.ts';
import type { ChangeableAccounts } from './accounts.ts';
import { permitWaitMs } from './permit-wait.ts';

export interface KnownTime {
  /** False from when this machine may have slept until its clocks have been compared with the store's again. */
  isKnown(): boolean;
  /** Resolves when they have been compared again. */
  nextComparison(): Promise<unknown>;
}

/** These accounts; a permit waits until the time is known, or is unavailable. */
export function whileTimeIsKnown(
  accounts: ChangeableAccounts,
  time: KnownTime,
  clock: Pick<Clock, 'sleep'>,
): ChangeableAccounts {
  // Asked after the permit was taken: from then on it counts its age itself, by both clocks of the machine.
  async function insist(ask: () => Promise<PermitResult>): Promise<PermitResult> {
    const result = await ask();
    if (result.kind !== 'permit' || time.isKnown()) return result;
    result.permit.release('unused');
    if (await isComparedInTime(time, clock)) return insist(ask);
    return { kind: 'unavailable', retryAfterSeconds: 1 };
  }
  return {
    ...accounts,
    permitForCreation: (...asked) => insist(() => accounts.permitForCreation(...asked)),
    permitOf: (...asked) => insist(() => accounts.permitOf(...asked)),
    permitAmong: (...asked) => insist(() => accounts.permitAmong(...asked)),
  };
}

async function isComparedInTime(time: KnownTime, clock: Pick<Clock, 'sleep'>): Promise<boolean> {
  const enough = new AbortController();
  const compared = time.nextComparison().then(() => true);
  const late = clock.sleep(permitWaitMs, enough.signal).then(
    () => false,
    () => false,
  );
  try {
    return await Promise.race([compared, late]);
  } finally {
    enough.abort();
  }
}
