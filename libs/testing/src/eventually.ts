import { setTimeout as delay } from 'node:timers/promises';

/**
 * Repeats a check in real time until it does not throw, and returns its result.
 *
 * @throws the last error after `timeoutMs` (15 s by default), even if a check hangs
 */
export async function eventually<Result>(
  check: () => Result | Promise<Result>,
  { timeoutMs = 15_000, intervalMs = 20 }: { timeoutMs?: number; intervalMs?: number } = {},
): Promise<Result> {
  let lastError: unknown = new Error(`The check did not come to an end within ${timeoutMs} ms.`);
  const ending = new AbortController();
  const repeat = async (): Promise<Result> => {
    for (;;) {
      try {
        return await check();
      } catch (error) {
        lastError = error;
      }
      await delay(intervalMs, undefined, { signal: ending.signal });
    }
  };
  const expire = async (): Promise<never> => {
    await delay(timeoutMs, undefined, { signal: ending.signal });
    throw lastError;
  };
  try {
    return await Promise.race([repeat(), expire()]);
  } finally {
    ending.abort();
  }
}
