/** A process that has answered that an account is paused begins no call through it. */
import type { Complain } from './books.ts';

/** What was under way goes on: announced so long after the answer at most, milliseconds. */
const announcedAfterMs = 10_000;
/** A request that a stopped machine holds takes effect so long after nobody has answered it at most, milliseconds. */
const heldMs = 240_000;

/** Who sends a call, and through which account. */
export interface Sender {
  account: string;
  life: string;
}

export function createPausedAccounts({ now, complain }: { now: () => number; complain: Complain }) {
  /** By account and process. */
  const since = new Map<string, number>();
  const unansweredAt = new Map<string, number>();
  return {
    onPaused: (account: string, life: string): void => {
      if (now() >= (unansweredAt.get(account) ?? -Infinity) + heldMs) since.set(`${account} ${life}`, now());
    },
    /** Somebody is about to ask that it is called again. */
    onResuming: (account: string): void => {
      for (const key of since.keys()) if (key.startsWith(`${account} `)) since.delete(key);
    },
    /** Nobody has answered another change: it may take effect after a pause that follows. */
    onOtherUnanswered: (account: string): void => void unansweredAt.set(account, now()),
    requireCalled: ({ account, life }: Sender, announcedAt: number, what: string): void => {
      if (announcedAt > (since.get(`${account} ${life}`) ?? Infinity) + announcedAfterMs)
        complain('closed', `${life} sends ${what} through ${account}, which it has reported as paused`);
    },
  };
}
