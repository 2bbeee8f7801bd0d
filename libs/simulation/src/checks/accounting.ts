/** Who keeps account of what is recorded: begun anew, by what is on record then, once an earlier store has taken its place. */
import { type Books, createBooks } from './books.ts';
import type { EventLog } from '../world/event-log.ts';
import { type CheckParts, type Checks, createChecks } from './invariants.ts';
import { walletsBy } from './money-rules.ts';

interface Account {
  books: Books;
  checks: Checks;
}

export interface Accounting {
  /** The earlier account counts no more. */
  begin(): Account;
  hasBegunAnew(): boolean;
}

export function createAccounting(
  parts: Omit<CheckParts, 'books' | 'isRestored'> & { log: EventLog },
): Accounting {
  const { log, now, rulesOf } = parts;
  let begun = 0;
  let isReplaying = false;
  const complain: CheckParts['complain'] = (invariant, text) => {
    // What was recorded before was looked at then.
    if (!isReplaying) parts.complain(invariant, text);
  };
  return {
    begin: () => {
      begun += 1;
      const books = createBooks(complain, walletsBy(rulesOf));
      const checks = createChecks({ ...parts, books, complain, isRestored: begun > 1 });
      isReplaying = true;
      for (const event of log.all()) {
        books.apply(event, now());
        checks.onRecorded(event);
      }
      isReplaying = false;
      return { books, checks };
    },
    hasBegunAnew: () => begun > 1,
  };
}
