/** Steps and checks shared by the five operations that move money: permit, guard, announce, send, record. */
import { type Clock, InvariantViolation, isAllowedOrigin, isAllowedRedirect } from '@tollgate/service-kit';
import { type Requester } from '../domain/requester.ts';
import { isOwnedBy, isToken } from '../domain/ownership.ts';
import type { CallTimes } from '../domain/outbound-call/outbound-call.ts';
import type { Accounts } from '../accounts.ts';
import type { PaymentAggregate, Payments } from '../aggregates/payments.ts';
import type { RecurringTokens } from '../aggregates/recurring-tokens.ts';
import type { Cause, Executed } from '../aggregates/repository.ts';
import type { AskAccount } from '../outbound/ask-account.ts';
import type { InquiryResult } from '../inquiry/inquiries.ts';
import type { Sender } from '../outbound/send-once.ts';
import type { QuietPeriods } from '../outbound/quiet-periods.ts';
import type { FingerprintsOf } from '../tokens.ts';
import { type Waiting, awaitOutcome } from './await-outcome.ts';
import type { Guard } from './guard.ts';
import type { Unavailable } from '@tollgate/accounts';

export interface OperationDependencies {
  /** Name of the installation; tokens are derived from it. */
  installation: string;
  accounts: Accounts;
  guards: readonly Guard[];
  sender: Sender;
  times: CallTimes;
  askAccount: AskAccount;
  /** Inquires about a payment or payout, and records the result. */
  inquire: (token: string, cause: Cause) => Promise<InquiryResult>;
  quietPeriods: QuietPeriods;
  fingerprintsOf: FingerprintsOf;
  clock: Clock;
}

type InProgress = { code: 'operation_in_progress' };

/** Why an operation was not begun: nothing was announced or sent. */
export type NotBegun = Unavailable | { kind: 'no-account' };

export type OperationResult<Subject, Refusal extends { code: string }> =
  /** `aggregate` after the call has ended, with any outcome. */
  | { kind: 'answered'; aggregate: Subject; replayed: boolean }
  | { kind: 'refused'; refusal: Refusal | InProgress }
  | NotBegun;

export const refuse = <Refusal extends { code: string }>(refusal: Refusal) =>
  ({ kind: 'refused', refusal }) as const;

export const inProgress = refuse({ code: 'operation_in_progress' as const });

/**
 * Answers a repeated request. It makes no call: the process that appended the announcement does, and a repeat waits for the
 * outcome. With other terms it is refused.
 *
 * @param executed the command of the repeat, which has changed nothing
 */
export async function replay<Subject, Refusal extends { code: string }>(
  deps: OperationDependencies,
  executed: Executed<Subject, unknown, Refusal>,
  waiting: Waiting<Subject>,
): Promise<OperationResult<Subject, Refusal>> {
  if (executed.kind === 'refused') return executed;
  if (executed.kind === 'done' && executed.events.length > 0)
    throw new InvariantViolation('a repeat has announced a call');
  const aggregate = await awaitOutcome(deps, waiting);
  return aggregate === undefined ? inProgress : { kind: 'answered', aggregate, replayed: true };
}

/** The token of an alias, and the only account that can use it; undefined if the team has no such recurring token. */
export async function findRecurringToken(
  recurringTokens: RecurringTokens,
  caller: Requester,
  alias: string,
): Promise<{ account: string; recurringToken: string } | undefined> {
  const found = await recurringTokens.find(alias);
  if (found?.team !== caller.team || found.environment !== caller.environment) return undefined;
  return { account: found.account, recurringToken: found.serviceRecurringToken };
}

/** A caller's payment; undefined for another team's or environment's, as for one that does not exist. */
export async function findOwn(
  payments: Pick<Payments, 'load'>,
  caller: Requester,
  token: string,
): Promise<PaymentAggregate | undefined> {
  const aggregate = isToken(token) ? await payments.load(token) : undefined;
  return aggregate !== undefined && isOwnedBy(aggregate.payment, caller) ? aggregate : undefined;
}

export interface OriginRefusal {
  code: 'origin_not_allowed';
  parameter: string;
  purpose: 'callbacks' | 'redirects';
}

/** The first URL of a new request that its team has not allowed; undefined if there is none. */
export function originRefusal(
  addresses: {
    callbackUrl?: string | undefined;
    redirectSuccessUrl?: string | undefined;
    redirectFailUrl?: string | undefined;
  },
  { allowedOrigins }: Pick<Requester, 'allowedOrigins'>,
): OriginRefusal | undefined {
  const { callbackUrl, redirectSuccessUrl, redirectFailUrl } = addresses;
  const code = 'origin_not_allowed';
  if (callbackUrl !== undefined && !isAllowedOrigin(callbackUrl, allowedOrigins.callback))
    return { code, parameter: 'callbackUrl', purpose: 'callbacks' };
  for (const [parameter, url] of Object.entries({ redirectSuccessUrl, redirectFailUrl }))
    if (url !== undefined && !isAllowedRedirect(url, allowedOrigins.redirect))
      return { code, parameter, purpose: 'redirects' };
  return undefined;
}
