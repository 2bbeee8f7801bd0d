/** Accounts at the Payment Service, and the right to make a call that moves money through one of them. */
import type { CallOutcome, PaymentServiceClient } from '@tollgate/payment-api';
import type { Environment } from '@tollgate/payment-domain';

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
  /** Money-moving calls that begin per second, at least 1; after a rest, one second's worth may begin at once. */
  callsPerSecondMax: number;
  /** Failures in a row after which it is not called for a while, at least 1; absent: 10. */
  failuresInARowMax?: number;
}

export interface Account extends AccountConfig {
  client: PaymentServiceClient;
}

/** How the call of a permit ended; `unused` where it was not made, whatever the reason. */
export type CallEnd = CallOutcome<unknown>['kind'] | 'unused';

/** The right to send one money-moving call to one account, now. */
export interface Permit {
  account: string;
  environment: Environment;
  client: PaymentServiceClient;
  /** Gives the permit back; it must be, on every way out, or its place is lost for good. A second time does nothing. */
  release(end: CallEnd): void;
}

export type PermitResult =
  | { kind: 'permit'; permit: Permit }
  /** Nothing may be announced now: the account is failing, or has no place within the wait. */
  | { kind: 'unavailable'; retryAfterSeconds: number }
  /** No account takes such a payment, or the one that was named is not configured any more. */
  | { kind: 'no-account' };

export interface AccountHealth {
  environment: Environment;
  account: string;
  breaker: 'closed' | 'open' | 'half-open';
  callsUnderWay: number;
  waiting: number;
}
