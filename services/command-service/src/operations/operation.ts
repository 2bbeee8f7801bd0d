/** What every operation that moves money has in common. */
import type { Clock } from '@tollgate/service-kit';
import type { Accounts } from '../accounts/accounts.ts';
import type { PermitResult } from '../accounts/account.ts';
import type { AnnouncedCalls } from '../calls/announced-calls.ts';
import type { CallTimes } from '../calls/call-times.ts';
import type { InquiryResult } from '../inquiries/inquiry-result.ts';
import type { Cause } from '../streams/repository.ts';

export interface OperationDependencies {
  accounts: Accounts;
  calls: AnnouncedCalls;
  times: CallTimes;
  /** Finds out what the service says about a payment or payout, and records it. */
  inquire: (token: string, cause: Cause) => Promise<InquiryResult>;
  clock: Clock;
}

/** Why an operation was not begun: nothing was announced, nothing was sent. */
export type NotBegun = { kind: 'unavailable'; retryAfterSeconds: number } | { kind: 'no-account' };

export type OperationResult<View, Refusal extends { code: string }> =
  /** `document` is what it is after the call has ended, one way or another. */
  | { kind: 'answered'; view: View; replayed: boolean }
  | { kind: 'refused'; refusal: Refusal | { code: 'operation_in_progress' } }
  | NotBegun;

export const inProgress = { kind: 'refused', refusal: { code: 'operation_in_progress' } } as const;

/** Narrows a permit's refusal to why the operation was not begun. */
export const isPermit = (result: PermitResult): result is Extract<PermitResult, { kind: 'permit' }> =>
  result.kind === 'permit';
