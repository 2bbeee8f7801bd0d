/** A process that has answered that an account is paused begins no call through it. */

/** What was under way goes on: announced so long after the answer at most, milliseconds. */
const announcedAfterMs = 10_000;
/** A request that a stopped machine holds takes effect so long after nobody has answered it at most, milliseconds. */
const heldMs = 240_000;

/** Who sends a call, and through which account. */
export interface Sender {
  account: string;
  life: string;
}

export interface PausedAccounts {
  onPaused(account: string, life: string): void;
  /** Somebody is about to ask that it is called again. */
  onResuming(account: string): void;
  /** Nobody has answered another change: it may take effect after a pause that follows (seeds 163373 and 177795). */
  onOtherUnanswered(account: string): void;
  requireCalled(sender: Sender, announcedAt: number, what: string): void;
}

export function createPausedAccounts({
  now,
  complain,
}: {
  now: () => number;
  complain: (invariant: string, text: string) => void;
}): PausedAccounts {
  const since = new Map<string, Map<string, number>>();
  const unansweredAt = new Map<string, number>();
  return {
    onPaused(account, life) {
      if (now() < (unansweredAt.get(account) ?? -Infinity) + heldMs) return;
      const known = since.get(account) ?? new Map<string, number>();
      since.set(account, known.set(life, now()));
    },
    onResuming: (account) => void since.delete(account),
    onOtherUnanswered: (account) => void unansweredAt.set(account, now()),
    requireCalled({ account, life }, announcedAt, what) {
      if (announcedAt > (since.get(account)?.get(life) ?? Infinity) + announcedAfterMs)
        complain('closed', `${life} sends ${what} through ${account}, which it has reported as paused`);
    },
  };
}
