/** Bounds the inquiries: one at a time per payment and lane, and one more for all hints that arrive meanwhile. */
/**
 * Result of an inquiry: `inquired` (the provider's record is recorded), `awaiting-answer` (the call that creates it may
 * still be answered, which carries more), `nothing-there` (the token is not ours), `failed` (no usable answer),
 * `not-asked` (the account cannot be inquired now).
 */
export type InquiryResult = 'inquired' | 'awaiting-answer' | 'nothing-there' | 'failed' | 'not-asked';

/** Maximum repeats of an inquiry whose subject changed meanwhile; then the schedule takes over. */
export const inquiriesPerRequestMax = 4;

/** @param options.stopping aborted when the process stops: inquiries that have not begun by then end as `failed` */
export function createInquiries<Reason>(
  inquire: (token: string, reason: Reason) => Promise<InquiryResult>,
  { stopping, laneOf = () => '' }: { stopping: AbortSignal; laneOf?: (reason: Reason) => string },
) {
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
    /** Resolves with the result of an inquiry that began after this call. */
    request(token: string, reason: Reason): Promise<InquiryResult> {
      const key = `${laneOf(reason)}/${token}`;
      const first = running.get(key);
      if (first === undefined) return start(key, token, reason);
      // A running inquiry may have read the provider before this hint: all hints meanwhile share the next one.
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
    /** Resolves when no inquiry is under way. */
    async idle(): Promise<void> {
      while (running.size + waiting.size > 0)
        await Promise.allSettled([...running.values(), ...waiting.values()]);
    },
  };
}
