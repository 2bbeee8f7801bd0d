/** Looks when somebody reads what nobody knows the outcome of: whoever asks is told the truth the sooner. */
import type { Clock } from '@tollgate/service-kit';

/** Between two looks at one payment or payout for readers, milliseconds: who polls does not make us poll the service. */
const pauseMs = 5_000;
/** Of those that readers were looked for; more at once are left to the schedule. */
const rememberedMax = 10_000;

/** Never rejects and does not wait for the look. */
export type LookOnRead = (token: string) => void;

export function createLookOnRead({
  look,
  clock,
}: {
  look: (token: string) => void;
  clock: Pick<Clock, 'monotonic'>;
}): LookOnRead {
  // In order of time: the oldest is the first.
  const lookedAt = new Map<string, number>();

  function forgetOld(now: number): void {
    for (const [token, at] of lookedAt) {
      if (now - at < pauseMs) return;
      lookedAt.delete(token);
    }
  }

  return (token) => {
    const now = clock.monotonic();
    forgetOld(now);
    if (lookedAt.has(token) || lookedAt.size >= rememberedMax) return;
    lookedAt.set(token, now);
    look(token);
  };
}
