/** Bounds the inquiries: one at a time per payment and lane, and one more for all hints that came meanwhile. */
/**
 * Result of an inquiry: `inquired` (what the provider says is recorded), `awaiting-answer` (the call that creates it
 * may still be answered, which says more), `nothing-there` (the token is not ours), `failed` (no usable answer),
 * `not-asked` (the account cannot be asked now).
 */
export type InquiryResult = 'inquired' | 'awaiting-answer' | 'nothing-there' | 'failed' | 'not-asked';

/** Inquiries that are repeated because their subject changed meanwhile, at most; then the schedule brings the next one. */
export const inquiriesPerRequestMax = 4;

export interface Inquiries<Reason> {
  /** Resolves with the result of an inquiry that began after this call. */
  request(token: string, reason: Reason): Promise<InquiryResult>;
  /** Resolves when no inquiry is under way. */
  idle(): Promise<void>;
}

/** @param options.stopping aborted when the process stops: inquiries that have not begun by then end as `failed` */
export function createInquiries<Reason>(
  inquire: (token: string, reason: Reason) => Promise<InquiryResult>,
  { stopping, laneOf = () => '' }: { stopping: AbortSignal; laneOf?: (reason: Reason) => string },
): Inquiries<Reason> {
  const running = new Map<string, Promise<unknown>>();
  const waiting = new Map<string, Promise<InquiryResult>>();

  function start(key: string, token: string, reason: Reason): Promise<InquiryResult> {
    const beginning = stopping.aborted ? Promise.resolve('failed' as const) : inquire(token, reason);
    const result = beginning.finally(() => {
      if (running.get(key) === result) running.delete(key);
    });
    running.set(key, result);
    return result;
  }

  return {
    request(token, reason) {
      const key = `${laneOf(reason)}/${token}`;
      const first = running.get(key);
      if (first === undefined) return start(key, token, reason);
      // One that has begun may have read the provider before this hint's news: all hints meanwhile share the next one.
      const shared = waiting.get(key);
      if (shared !== undefined) return shared;
      const next = first
        .catch(() => undefined)
        .then(() => {
          waiting.delete(key);
          return start(key, token, reason);
        });
      waiting.set(key, next);
      return next;
    },
    async idle() {
      while (running.size + waiting.size > 0)
        await Promise.allSettled([...running.values(), ...waiting.values()]);
    },
  };
}
