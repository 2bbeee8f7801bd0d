/** Inquiries to a provider, within the budget of their account: one that hangs holds up nobody's inquiries but its own. */
import type { Environment } from '@tollgate/payment-domain';
import type { Inquirer, InquiryOutcome } from '@tollgate/provider';
import type { Clock, Log } from '@tollgate/service-kit';
import type { Accounts } from '../accounts/accounts.ts';
import type { Cause } from '../aggregates/repository.ts';
import { type InquiryBudget, type InquiryPriority, createInquiryBudget } from './inquiry-budget.ts';

interface AccountName {
  environment: Environment;
  account: string;
}

export type Asked<Answer> =
  | InquiryOutcome<Answer>
  /** The account is not configured any more. */
  | { kind: 'account-missing' }
  /** The process stops, or too many wait already: this says nothing about the account. */
  | { kind: 'not-asked' };

/** Never rejects: a fault of the adapter is an unknown outcome. */
export type AskAccount = <Answer>(
  account: AccountName,
  cause: Cause,
  ask: (provider: Inquirer) => Promise<InquiryOutcome<Answer>>,
) => Promise<Asked<Answer>>;

export const inquiryScheduleName = 'inquiry-schedule';

/** A team's request waits for its inquiry; a callback and a reader do not. */
export function inquiryPriorityOf({ actor }: Cause): InquiryPriority {
  if (actor.kind === 'team') return 'caller';
  return actor.name === inquiryScheduleName ? 'schedule' : 'callback';
}

const teamOf = ({ actor }: Cause) => (actor.kind === 'team' ? actor.team : undefined);

/** @param stopping aborted when the process stops: what waits then is not asked */
export function createAskAccount(deps: {
  accounts: Pick<Accounts, 'inquiriesOf'>;
  stopping: AbortSignal;
  clock: Clock;
  log: Log;
}): AskAccount {
  const { accounts, log } = deps;
  const budgets = new Map<string, InquiryBudget>();

  return async ({ environment, account }, cause, ask) => {
    const known = accounts.inquiriesOf(environment, account);
    if (known === undefined) return { kind: 'account-missing' };
    const priority = inquiryPriorityOf(cause);
    const key = `${environment}/${account}`;
    const budget = budgets.get(key) ?? createInquiryBudget({ ...deps, ...known.limits });
    budgets.set(key, budget);
    if (!(await budget.enter(priority, teamOf(cause)))) return { kind: 'not-asked' };
    try {
      const outcome = await ask(known.provider);
      log.debug({ account, operation: 'inquiry', outcome: outcome.kind }, 'inquired at the provider');
      return outcome;
    } catch (error) {
      log.error({ error, account, operation: 'inquiry' }, 'the adapter of the provider failed');
      return { kind: 'unknown', reason: 'the adapter failed' };
    } finally {
      budget.leave(priority);
    }
  };
}
