/** A process that has reported an account as paused begins no call through it. */
import type { Complain } from './books.ts';

/** Calls in progress continue. They are announced at most this long after the answer. @unit milliseconds */
const announcedAfterMs = 10_000;
/** A request held by a stopped machine takes effect at most this long after it went unanswered. @unit milliseconds */
const heldMs = 240_000;

/** The process that sends a call, and its account. */
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
    /** An operator is about to resume the account. */
    onResuming: (account: string): void => {
      for (const key of since.keys()) if (key.startsWith(`${account} `)) since.delete(key);
    },
    /** Another change went unanswered: it may take effect after a later pause. */
    onOtherUnanswered: (account: string): void => void unansweredAt.set(account, now()),
    requireCalled: ({ account, life }: Sender, announcedAt: number, what: string): void => {
      if (announcedAt > (since.get(`${account} ${life}`) ?? Infinity) + announcedAfterMs)
        complain('closed', `${life} sends ${what} through ${account}, which it has reported as paused`);
    },
  };
}
