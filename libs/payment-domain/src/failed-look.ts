/** Looks that the service gives no answer to, while there is something to be found out. */
import {
  raiseOnce,
  resolveOpen,
  type Attended,
  type AttentionRaised,
  type AttentionResolved,
} from './attention.ts';
import type { OpenWork } from './payment/open-work.ts';

/** Why a look told nothing: nobody to ask as, the service refuses us, or it does not answer. */
export type LookFailure = 'account_missing' | 'refused' | 'no_answer';

export interface FailedLook {
  reason: LookFailure;
  /** The account that the service was, or would have been, asked as. */
  account: string;
  /** Milliseconds since the Unix epoch. */
  failedAt: number;
}

/** How long after the latest call has become quiet the service may leave looks without an answer, milliseconds. */
export const noAnswerPatienceMs: Record<OpenWork, number> = {
  unresolved: 60 * 60 * 1000,
  open: 24 * 60 * 60 * 1000,
};

const code = 'service_not_readable';

/** Calls a person: at once where time will not mend it, and where it may only after patience. */
export function raiseNotReadable(
  state: Attended,
  { reason, account, failedAt }: FailedLook,
  { openWork, quietUntil }: { openWork: OpenWork | undefined; quietUntil: number },
): AttentionRaised<typeof code>[] {
  if (openWork === undefined) return [];
  if (reason === 'no_answer' && failedAt < quietUntil + noAnswerPatienceMs[openWork]) return [];
  return raiseOnce(state, code, { reason, account });
}

/** A look has told something, whatever it was. */
export const endNotReadable = <Code extends string>(
  state: Attended<Code | typeof code>,
): AttentionResolved<Code | typeof code>[] =>
  resolveOpen<Code | typeof code>(state, code, 'retrieved', 'the service was asked later');
