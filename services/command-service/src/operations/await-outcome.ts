/** Waits for the outcome of a call that somebody else is making: this process on another connection, or another instance. */
import type { Clock } from '@tollgate/service-kit';
import type { InquiryResult } from '../inquiries/inquiry-result.ts';
import type { Cause } from '../streams/repository.ts';

/** How long a caller waits for it, and between two looks into the stream, milliseconds. */
const waitMaxMs = 5_000;
const pauseMs = 50;

export interface AwaitOutcomeDependencies<View> {
  load: (token: string) => Promise<View | undefined>;
  /** Resolves when the calls of this process for the token have been recorded. */
  settled: (token: string) => Promise<void>;
  inquire: (token: string, cause: Cause) => Promise<InquiryResult>;
  clock: Clock;
}

/** What is waited for: a call that may still be answered, one whose outcome is unknown, or nothing any more. */
export type Awaited = { kind: 'answer'; answerBy: number } | { kind: 'look' } | { kind: 'nothing' };

/**
 * Resolves with the document when the outcome is known, or when a look has not told it either. A look that could not be
 * made leaves things as they are: announced, outcome unknown. That is an answer, not an error.
 *
 * @returns undefined where the call was still under way when the caller had waited long enough
 */
export async function awaitOutcome<View>(
  deps: AwaitOutcomeDependencies<View>,
  { token, cause, awaited }: { token: string; cause: Cause; awaited: (view: View) => Awaited },
): Promise<View | undefined> {
  const { clock } = deps;
  const giveUpAt = clock.monotonic() + waitMaxMs;
  await noLongerThan(clock, deps.settled(token), giveUpAt);
  let view = await required(deps, token);
  for (;;) {
    const waiting = awaited(view);
    if (waiting.kind !== 'answer' || clock.now() >= waiting.answerBy) break;
    if (clock.monotonic() >= giveUpAt) return undefined;
    await clock.sleep(pauseMs);
    view = await required(deps, token);
  }
  if (awaited(view).kind === 'nothing') return view;
  await inquireBriefly(deps, { token, cause, giveUpAt });
  return required(deps, token);
}

/**
 * Looks, and waits for it no longer than a caller may; the look goes on. Never rejects.
 *
 * @param giveUpAt on the monotonic clock, milliseconds; absent: the longest that a caller waits, from now
 * @returns `failed` also where it was not waited for any longer
 */
export async function inquireBriefly(
  { inquire, clock }: Pick<AwaitOutcomeDependencies<unknown>, 'inquire' | 'clock'>,
  {
    token,
    cause,
    giveUpAt = clock.monotonic() + waitMaxMs,
  }: { token: string; cause: Cause; giveUpAt?: number },
): Promise<InquiryResult> {
  const inquiring = inquire(token, cause).catch(() => 'failed' as const);
  return (await noLongerThan(clock, inquiring, giveUpAt)) ?? 'failed';
}

/** The value, or undefined where it is not there in time. */
async function noLongerThan<Value>(
  clock: Clock,
  work: Promise<Value>,
  giveUpAt: number,
): Promise<Value | undefined> {
  const enough = new AbortController();
  const waiting = clock.sleep(Math.max(0, giveUpAt - clock.monotonic()), enough.signal).then(
    () => undefined,
    () => undefined,
  );
  try {
    return await Promise.race([work, waiting]);
  } finally {
    enough.abort();
  }
}

async function required<View>({ load }: AwaitOutcomeDependencies<View>, token: string): Promise<View> {
  const view = await load(token);
  if (view === undefined) throw new RangeError(`${token} was there and is gone`);
  return view;
}
