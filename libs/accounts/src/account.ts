/** Merchant accounts at a provider, and permits for calls that move money through them. */
import type { BreakerEnd, BreakerState, Environment } from '@tollgate/service-kit';

/**
 * `draining`: no new payments or payouts; captures, voids and refunds continue. `paused`: no call that moves money.
 * Inquiries and callbacks continue in every state, because the outcome of sent calls must be found.
 */
export const accountStates = ['active', 'draining', 'paused'] as const;
export type AccountState = (typeof accountStates)[number];

export const merchantAccountKey = (environment: Environment, account: string): string =>
  `${environment}/${account}`;

/** Limits apply across all processes: each has its share, and at least 1 of a concurrency limit. */
export interface AccountConfig {
  environment: Environment;
  /** Unique in its environment. Events record it, so a name is never reused for another merchant. */
  name: string;
  /** Supported currencies, ISO 4217; absent: all. */
  currencies?: readonly string[];
  /** Teams that may use it; absent: all. */
  teams?: readonly string[];
  /** Share among accounts of the same priority. @minimum 1 */
  weight: number;
  /** Integer; lower numbers are tried first. */
  priority: number;
  /** Concurrent money-moving calls. @minimum 1 */
  concurrentCallsMax: number;
  /** Money-moving calls per second; a burst of one second's worth is allowed after a pause. @minimum 1 */
  callsPerSecondMax: number;
  /** Consecutive failures that open the circuit. @minimum 1 @default 10 */
  failuresInARowMax?: number;
  /** Concurrent inquiries; a quarter is reserved for requests that wait, another quarter for the schedule. @minimum 1 */
  concurrentInquiriesMax?: number;
  /** Inquiries per second. @minimum 1 */
  inquiriesPerSecondMax?: number;
}

export const inquiryLimits = { concurrentInquiriesMax: 32, inquiriesPerSecondMax: 200 };

export interface Account<Provider> extends AccountConfig {
  provider: Provider;
}

/** The outcome of a permit's call; `unused` if no call was made. */
export type PermitEnd = 'accepted' | 'refused' | 'not-sent' | 'unknown' | 'unused';

/** A refusal is an answer: the account works. */
export function breakerEndOf(end: PermitEnd): BreakerEnd {
  if (end === 'unused') return end;
  return end === 'unknown' || end === 'not-sent' ? 'failed' : 'succeeded';
}

/**
 * The right to make one money-moving call through one account, now. Hold it with `using`: a permit that is not released
 * is lost permanently.
 */
export interface Permit<Provider> extends Disposable {
  /** Age in milliseconds by both clocks of this machine. A permit is taken before its call is announced. */
  ageMs(): number;
  account: string;
  environment: Environment;
  provider: Provider;
  /** Returns the permit. Idempotent. */
  release(end: PermitEnd): void;
}

/** Nothing may be announced now: the account is failing, at its limit, or closed by operators. */
export interface Unavailable {
  kind: 'unavailable';
  retryAfterSeconds: number;
  /** True if operators have closed every eligible account. */
  closed?: ClosedState;
}
export type ClosedState = Exclude<AccountState, 'active'>;

export type PermitResult<Provider> =
  | { kind: 'permit'; permit: Permit<Provider> }
  | Unavailable
  /** No account accepts this payment, or the named one is no longer configured. */
  | { kind: 'no-account' };

export interface AccountHealth {
  environment: Environment;
  account: string;
  state: AccountState;
  breaker: BreakerState;
  callsUnderWay: number;
  waiting: number;
}
