/** Under which terms an account is called now, and for what: operators change both while the process runs. */
import type { AccountState } from '@tollgate/payment-domain';
import type { Clock } from '@tollgate/service-kit';
import type { Account, ClosedState } from './account.ts';
import { type SharedRate, createSharedRate } from './shared-rate.ts';

/** `new`: for a payment or payout that the account has not taken yet; `begun`: for what it has. */
export type Purpose = 'new' | 'begun';

export interface AccountTerms {
  /** As it is configured; environment and name never change. */
  account(): Account;
  /** Of calls and inquiries together, where the provider counts both. */
  total(): SharedRate | undefined;
  state(): AccountState;
  /** In which state it gives no permit for that; undefined where it does. */
  closedTo(purpose: Purpose): ClosedState | undefined;
}

interface ChangeableTerms extends AccountTerms {
  setState(state: AccountState): void;
  configure(account: Account): void;
}

/** @param processes that share the limits */
export function createAccountTerms(first: Account, processes: () => number, clock: Clock): ChangeableTerms {
  const totalOf = ({ totalPerSecondMax }: Account) =>
    totalPerSecondMax === undefined
      ? undefined
      : createSharedRate(() => totalPerSecondMax / processes(), clock);
  let account = first;
  let state: AccountState = 'active';
  let total = totalOf(first);
  return {
    account: () => account,
    total: () => total,
    state: () => state,
    closedTo(purpose) {
      if (state === 'active') return undefined;
      return state === 'paused' || purpose === 'new' ? state : undefined;
    },
    setState: (next) => void (state = next),
    configure(next) {
      if (next.totalPerSecondMax !== account.totalPerSecondMax) total = totalOf(next);
      account = next;
    },
  };
}
