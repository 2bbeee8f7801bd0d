/** Inquires at a provider within the budget of the account. A hanging account delays no other account. */
import { type BreakerChange, type Clock, type Log, createCircuitBreaker } from '@tollgate/service-kit';
import type { Environment } from '../domain/values.ts';
import type { InquiryFailure } from '../domain/failed-inquiry.ts';
import type { Inquirer, InquiryOutcome } from '../provider.ts';
import type { Accounts } from '../accounts.ts';
import type { Cause } from '../aggregates/repository.ts';
import {
  breakerEndOf,
  type InquiryLimits,
  type InquiryPriority,
  createInquiryBudget,
} from '@tollgate/accounts';

interface AccountName {
  environment: Environment;
  account: string;
}

export type Asked<Answer> =
  | InquiryOutcome<Answer>
  /** The account is no longer configured. */
  | { kind: 'account-missing' }
  /** The account's inquiries keep failing, too many wait already, or the process stops. */
  | { kind: 'not-asked' };

/** The result, from the answer if there is one. */
export const answersThat = <Answer>(
  asked: Asked<Answer>,
  isSo: (answer: Answer) => boolean,
): Asked<boolean> => (asked.kind === 'accepted' ? { kind: 'accepted', answer: isSo(asked.answer) } : asked);

/** Why an inquiry has no result. If it was not sent, that proves nothing about the account. */
export function failureOf(
  asked: Exclude<Asked<unknown>, { kind: 'accepted' }>,
): InquiryFailure | 'not-asked' {
  switch (asked.kind) {
    case 'account-missing':
      return 'account_missing';
    case 'not-asked':
      return 'not-asked';
    case 'refused':
      return asked.isAccountRefused === true ? 'refused' : 'no_answer';
    case 'missing':
    case 'not-sent':
    case 'unknown':
      return 'no_answer';
  }
}

export interface AskAccount {
  /** Never rejects: an error of the adapter is an unknown outcome. */
  <Answer>(
    account: AccountName,
    cause: Cause,
    ask: (provider: Inquirer) => Promise<InquiryOutcome<Answer>>,
  ): Promise<Asked<Answer>>;
  /** False while the circuit of the account's inquiries is open: an inquiry would be refused. */
  mayAsk(account: AccountName): boolean;
}

export const inquiryScheduleName = 'inquiry-schedule';
export const reconciliationName = 'reconciliation';
/** No caller waits for them. */
const namesOfSchedules: readonly string[] = [inquiryScheduleName, reconciliationName];

/** A team's request waits for its inquiry; a callback and a reader do not. */
export function inquiryPriorityOf({ actor }: Cause): InquiryPriority {
  if (actor.kind === 'team') return 'caller';
  return namesOfSchedules.includes(actor.name) ? 'schedule' : 'callback';
}

const teamOf = ({ actor }: Cause) => (actor.kind === 'team' ? actor.team : undefined);

/** @param stopping aborted when the process stops: waiting inquiries are dropped */
export function createAskAccount(deps: {
  accounts: Pick<Accounts, 'inquiriesOf'>;
  stopping: AbortSignal;
  clock: Clock;
  log: Log;
}): AskAccount {
  const { accounts, log } = deps;
  const gates = new Map<string, ReturnType<typeof newGate>>();

  function newGate({ environment, account }: AccountName, limits: InquiryLimits) {
    const onChange = (change: BreakerChange) =>
      log.warn(
        { account, outcome: change.state },
        `the circuit of the inquiries of a ${environment} account changed`,
      );
    return {
      budget: createInquiryBudget({ ...deps, limits }),
      // Separate from that of the calls: an account that lists nothing may still take payments.
      breaker: createCircuitBreaker({ clock: deps.clock, onChange }),
    };
  }

  function gateOf(name: AccountName, limits: InquiryLimits) {
    const key = `${name.environment}/${name.account}`;
    const gate = gates.get(key) ?? newGate(name, limits);
    gates.set(key, gate);
    return gate;
  }

  async function askAccount<Answer>(
    { environment, account }: AccountName,
    cause: Cause,
    ask: (provider: Inquirer) => Promise<InquiryOutcome<Answer>>,
  ): Promise<Asked<Answer>> {
    const known = accounts.inquiriesOf(environment, account);
    if (known === undefined) return { kind: 'account-missing' };
    const priority = inquiryPriorityOf(cause);
    const { budget, breaker } = gateOf({ environment, account }, known.limits);
    if (!breaker.mayPass() || !(await budget.enter(priority, teamOf(cause)))) return { kind: 'not-asked' };
    try {
      if (!breaker.mayPass()) return { kind: 'not-asked' };
      const end = breaker.pass();
      const outcome = await ask(known.provider).catch((error: unknown) => {
        log.error({ error, account, operation: 'inquiry' }, 'the provider adapter failed');
        return { kind: 'unknown', reason: 'the adapter failed' } as const;
      });
      end(outcome.kind === 'missing' ? 'succeeded' : breakerEndOf(outcome.kind));
      log.debug({ account, operation: 'inquiry', outcome: outcome.kind }, 'inquired at the provider');
      return outcome;
    } finally {
      budget.leave(priority);
    }
  }

  return Object.assign(askAccount, {
    mayAsk: ({ environment, account }: AccountName) =>
      gates.get(`${environment}/${account}`)?.breaker.mayPass() ?? true,
  });
}
