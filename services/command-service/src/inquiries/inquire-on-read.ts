/** Looks when somebody reads what nobody knows the outcome of: whoever asks is told the truth the sooner. */
import type { Clock } from '@tollgate/service-kit';

/** Between two looks at one payment or payout for readers, milliseconds: who polls does not make us poll the service. */
const pauseMs = 5_000;
/** Of those that readers were looked for; more at once are left to the schedule. */
const rememberedMax = 10_000;

/** Never rejects and does not wait for the look. */
export type InquiryOnRead = (token: string) => void;

export function createInquiryOnRead({
  inquire,
  clock,
}: {
  inquire: (token: string) => void;
  clock: Pick<Clock, 'monotonic'>;
}): InquiryOnRead {
  // In order of time: the oldest is the first.
  const inquiredAt = new Map<string, number>();

  function forgetOld(now: number): void {
    for (const [token, at] of inquiredAt) {
      if (now - at < pauseMs) return;
      inquiredAt.delete(token);
    }
  }

  return (token) => {
    const now = clock.monotonic();
    forgetOld(now);
    if (inquiredAt.has(token) || inquiredAt.size >= rememberedMax) return;
    inquiredAt.set(token, now);
    inquire(token);
  };
}
