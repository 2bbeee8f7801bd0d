/** Merchant accounts at a provider, and the right to make a call that moves money through one of them. */
import type { AccountState } from '../domain/merchant-account/merchant-account.ts';
import type { CallOutcome } from '../domain/outbound-call/outbound-call.ts';
import type { Environment } from '../domain/values.ts';
import type { Provider } from '../provider.ts';

/** Limits hold over all processes together: each has its share, and at least 1 where a limit counts what is under way. */
export interface AccountConfig {
  environment: Environment;
  /** Unique in its environment. Recorded in events, so a name is never given to another merchant later. */
  name: string;
  /** ISO 4217 codes that it takes; absent: all. */
  currencies?: readonly string[];
  /** Teams whose payments it takes; absent: all. */
  teams?: readonly string[];
  /** Its share among the accounts of the same priority: a whole number of at least 1. */
  weight: number;
  /** A whole number; lower ones are asked first. */
  priority: number;
  /** Money-moving calls on the wire at once, at least 1. */
  concurrentCallsMax: number;
  /** Money-moving calls that begin per second, at least 1; after a pause, one second's worth may begin at once. */
  callsPerSecondMax: number;
  /** Failures in a row after which it is not called for a while, at least 1; absent: 10. */
  failuresInARowMax?: number;
  /** Inquiries on the wire at once, at least 1; a quarter of them is kept for requests that wait, another one for the rest. */
  concurrentInquiriesMax?: number;
  /** Inquiries that begin per second, at least 1. */
  inquiriesPerSecondMax?: number;
  /**
   * Calls and inquiries together that begin per second, at least 1, where the provider counts both: inquiries then leave a
   * quarter of it to the calls that move money. Absent: only the two limits by themselves.
   */
  totalPerSecondMax?: number;
}

/** Where an account says nothing else. */
export const inquiryLimits = { concurrentInquiriesMax: 32, inquiriesPerSecondMax: 200 };

export interface Account extends AccountConfig {
  provider: Provider;
}

/** What became of the call of a permit; `unused` if it was not made, whatever the reason. */
export type PermitEnd = CallOutcome<unknown>['kind'] | 'unused';

/**
 * The right to make one money-moving call through one account, now. Held with `using`: a permit that is not released
 * is lost permanently.
 */
export interface Permit extends Disposable {
  /** Since it was taken, which is before the call is announced, milliseconds; by both clocks of this machine. */
  ageMs(): number;
  account: string;
  environment: Environment;
  provider: Provider;
  /** Gives the permit back. A second time does nothing. */
  release(end: PermitEnd): void;
}

/** Nothing may be announced now: the account is failing, has no place within the wait, or operators have closed it. */
export interface Unavailable {
  kind: 'unavailable';
  retryAfterSeconds: number;
  /** Where operators have closed every account that comes into question. */
  closed?: ClosedState;
}
export type ClosedState = Exclude<AccountState, 'active'>;

export type PermitResult =
  | { kind: 'permit'; permit: Permit }
  | Unavailable
  /** No account takes such a payment, or the one that was named is not configured any more. */
  | { kind: 'no-account' };

export interface AccountHealth {
  environment: Environment;
  account: string;
  state: AccountState;
  breaker: 'closed' | 'open' | 'half-open';
  callsUnderWay: number;
  waiting: number;
}
