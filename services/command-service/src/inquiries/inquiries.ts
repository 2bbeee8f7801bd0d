/** Bounds the looks: one at a time per payment, and one more for all hints that came meanwhile. */
import type { InquiryResult } from './inquiry-result.ts';

export interface Inquiries<Reason> {
  /** Resolves with the result of a look that began after this call. */
  request(token: string, reason: Reason): Promise<InquiryResult>;
  /** Resolves when no look is under way. */
  idle(): Promise<void>;
}

/** @param stopping aborted when the process stops: looks that have not begun by then end as `failed` */
export function createInquiries<Reason>(
  inquire: (token: string, reason: Reason) => Promise<InquiryResult>,
  stopping: AbortSignal,
): Inquiries<Reason> {
  const running = new Map<string, Promise<unknown>>();
  const waiting = new Map<string, Promise<InquiryResult>>();

  function start(token: string, reason: Reason): Promise<InquiryResult> {
    const beginning = stopping.aborted ? Promise.resolve('failed' as const) : inquire(token, reason);
    const result = beginning.finally(() => {
      if (running.get(token) === result) running.delete(token);
    });
    running.set(token, result);
    return result;
  }

  return {
    request(token, reason) {
      const first = running.get(token);
      if (first === undefined) return start(token, reason);
      // A look that has begun may have read the service before this hint's news: all hints meanwhile share the next one.
      const shared = waiting.get(token);
      if (shared !== undefined) return shared;
      const next = first
        .catch(() => undefined)
        .then(() => {
          waiting.delete(token);
          return start(token, reason);
        });
      waiting.set(token, next);
      return next;
    },
    async idle() {
      while (running.size + waiting.size > 0)
        await Promise.allSettled([...running.values(), ...waiting.values()]);
    },
  };
}
