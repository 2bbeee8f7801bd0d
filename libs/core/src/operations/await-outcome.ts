/** Waits for the outcome of a call that another request is making, on this process or another. */
import { notShown } from '@tollgate/event-store';
import { type CallWindow, waitMaxMs } from '../domain/outbound-call/outbound-call.ts';
import { type Clock, valueWithin } from '@tollgate/service-kit';
import type { Cause } from '../aggregates/repository.ts';
import type { InquiryResult } from '../inquiry/inquiries.ts';
import type { Sender } from '../outbound/send-once.ts';
import type { QuietPeriods } from '../outbound/quiet-periods.ts';

/** Polling interval of the stream. @unit milliseconds */
const pauseMs = 50;

export interface AwaitOutcomeDependencies {
  sender: Pick<Sender, 'settled'>;
  inquire: (token: string, cause: Cause) => Promise<InquiryResult>;
  quietPeriods: QuietPeriods;
  clock: Clock;
}

/** The subject of the wait: a call that may still be answered, one with an unknown outcome, or none. */
export type Awaited = { kind: 'answer'; window: CallWindow } | { kind: 'inquiry' } | { kind: 'nothing' };

export interface Waiting<Subject> {
  repository: { load(token: string): Promise<Subject | undefined> };
  token: string;
  cause: Cause;
  awaited: (aggregate: Subject) => Awaited;
}

/**
 * Resolves with the aggregate when the outcome is known, or when an inquiry has not found it either. After a failed inquiry
 * the operation stays announced with an unknown outcome, which is a valid answer, not an error.
 *
 * @returns undefined if the call was still under way at the end of the wait
 * @throws StoreUnavailable
 */
export async function awaitOutcome<Subject>(
  deps: AwaitOutcomeDependencies,
  { repository, token, cause, awaited }: Waiting<Subject>,
): Promise<Subject | undefined> {
  const { clock } = deps;
  const giveUpAt = clock.monotonic() + waitMaxMs;
  await valueWithin(clock, until(deps, giveUpAt), deps.sender.settled(token));
  let aggregate = await required(repository, token);
  for (;;) {
    const waiting = awaited(aggregate);
    if (waiting.kind !== 'answer' || isOver(deps, token, waiting.window)) break;
    if (clock.monotonic() >= giveUpAt) return undefined;
    await clock.sleep(pauseMs);
    aggregate = await required(repository, token);
  }
  if (awaited(aggregate).kind === 'nothing') return aggregate;
  await inquireBriefly(deps, { token, cause, giveUpAt });
  return required(repository, token);
}

const isOver = ({ quietPeriods }: AwaitOutcomeDependencies, token: string, window: CallWindow): boolean =>
  quietPeriods.inquiryTime(token, window) >= window.answerBy;

/**
 * Inquires, and waits at most as long as a caller may; the inquiry continues. Never rejects.
 *
 * @param giveUpAt on the monotonic clock, milliseconds; default: the maximum wait of a caller
 * @returns `failed` if the wait was over first
 */
export async function inquireBriefly(
  { inquire, clock }: Pick<AwaitOutcomeDependencies, 'inquire' | 'clock'>,
  {
    token,
    cause,
    giveUpAt = clock.monotonic() + waitMaxMs,
  }: { token: string; cause: Cause; giveUpAt?: number },
): Promise<InquiryResult> {
  const inquiring = inquire(token, cause).catch(() => 'failed' as const);
  return (await valueWithin(clock, until({ clock }, giveUpAt), inquiring)) ?? 'failed';
}

const until = ({ clock }: Pick<AwaitOutcomeDependencies, 'clock'>, giveUpAt: number): number =>
  Math.max(0, giveUpAt - clock.monotonic());

/** @throws StoreUnavailable if the store no longer shows it */
export async function required<Subject>(
  repository: Waiting<Subject>['repository'],
  token: string,
): Promise<Subject> {
  const aggregate = await repository.load(token);
  if (aggregate === undefined) throw notShown(token);
  return aggregate;
}
