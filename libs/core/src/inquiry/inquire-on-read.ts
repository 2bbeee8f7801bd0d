/** Inquires when a payment or payout with an unknown outcome is read, so that its reader learns the outcome sooner. */
import type { Clock } from '@tollgate/service-kit';

/**
 * Minimum interval between two inquiries for readers about one subject: a polling caller must not poll the provider. @unit
 * milliseconds
 */
const pauseMs = 5_000;
/** Maximum number of remembered subjects; the schedule serves the rest. */
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
  // Ordered by time: the oldest is the first.
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
