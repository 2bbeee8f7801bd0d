/** Inquires when a payment or payout with an unknown outcome is read: its reader learns the outcome sooner. */
import type { Clock } from '@tollgate/service-kit';

/** Between two inquiries about one payment or payout for readers, milliseconds: a poller must not make us poll the provider. */
const pauseMs = 5_000;
/** Of those that were inquired for readers; more at once are left to the schedule. */
const rememberedMax = 10_000;

/** Never rejects and does not wait for the inquiry. */
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
