/**
 * Decides whether another attempt of a creation follows while its request runs, through which account, and how long each
 * attempt may take. After an inquiry, `giveUpAttempt` in `domain/payment/creation.ts` decides.
 */
import { type CallTimes, callRules, windowAt } from '../domain/outbound-call/outbound-call.ts';
import type { Attempt } from '../domain/payment/payment-events.ts';
import { type AuthorizationOutcome } from '../domain/payment/payment-commands.ts';
import type { Clock } from '@tollgate/service-kit';
import type { Accounts, Permit } from '../accounts.ts';
import type { PaymentAggregate } from '../aggregates/payments.ts';
import { providerOrderNumber } from '../tokens.ts';

export interface NextAttemptDependencies {
  accounts: Accounts;
  times: CallTimes;
  /** Aborted when the process stops. */
  stopping: AbortSignal;
  clock: Clock;
}

/** Attempt `number` of a payment, announced at `now`. */
export const planAttempt = (
  token: string,
  options: { number: number; account: string; now: number; times: CallTimes },
): Attempt => ({
  number: options.number,
  account: options.account,
  providerOrderNumber: providerOrderNumber(token, options.number),
  ...windowAt(options.now, options.times),
});

/**
 * A page that no customer received is followed by another one after any outcome except a refusal of the request itself. A
 * charge is followed only if it certainly had no effect.
 */
export function mayBeFollowed(
  deps: NextAttemptDependencies,
  { token, payment }: PaymentAggregate,
  outcome: AuthorizationOutcome,
): boolean {
  if (payment.attempt.number >= callRules.authorize.attemptsMax) return false;
  if (outcome.kind === 'not-sent') return true;
  if (outcome.kind === 'refused')
    return outcome.isAccountRefused === true && otherAccounts(deps, token, payment).length > 0;
  return outcome.kind === 'unknown' && payment.terms.kind === 'hosted';
}

/**
 * The outcome of a page that no other page follows, although one could. After a stop, an inquiry finds the page. A refusal
 * was not confirmed, so its page may exist. Card data is no longer available by then: the outcome of a card holds.
 */
export function unfollowed(
  deps: NextAttemptDependencies,
  aggregate: PaymentAggregate,
  outcome: AuthorizationOutcome,
): AuthorizationOutcome {
  if (aggregate.payment.terms.kind !== 'hosted' || !mayBeFollowed(deps, aggregate, outcome)) return outcome;
  if (deps.stopping.aborted) return { kind: 'unknown', reason: 'stopped before another attempt' };
  if (outcome.kind === 'refused')
    return { kind: 'unknown', reason: 'refused, and not confirmed', errors: outcome.errors };
  const isAnswered = outcome.kind === 'not-sent' && outcome.isAnswered === true;
  return isAnswered ? { kind: 'unknown', reason: 'too busy, and not confirmed' } : outcome;
}

/** Another account first, and the current one if it has not refused us. A recurring token belongs to one account. */
export async function permitAfter(
  deps: NextAttemptDependencies,
  { token, payment }: PaymentAggregate,
  outcome: AuthorizationOutcome,
): Promise<Permit | undefined> {
  const { environment, attempt: current } = payment;
  const others = otherAccounts(deps, token, payment);
  const mayRepeat = outcome.kind !== 'refused';
  if (others.length === 0 && !mayRepeat) return undefined;
  const result = await (others.length === 0
    ? deps.accounts.permitOf(environment, current.account)
    : deps.accounts.permitAmong(environment, mayRepeat ? [...others, current.account] : others));
  return result.kind === 'permit' ? result.permit : undefined;
}

/** The attempt after the payment's current one, under a permit; none if the current one is the last. */
export function attemptAfter(
  { clock, times }: Pick<NextAttemptDependencies, 'clock' | 'times'>,
  { token, payment }: PaymentAggregate,
  { account }: Permit,
) {
  const number = payment.attempt.number + 1;
  if (number > callRules.authorize.attemptsMax) return {};
  return { nextAttempt: planAttempt(token, { number, account, now: clock.now(), times }) };
}

/** The active accounts other than the current one, in the order in which the payment's accounts are tried. */
function otherAccounts(
  { accounts }: NextAttemptDependencies,
  token: string,
  { environment, team, terms, attempt: current }: PaymentAggregate['payment'],
): string[] {
  if (terms.kind === 'recurring') return [];
  const route = accounts.route({ environment, team, currency: terms.currency, token });
  const next = route.indexOf(current.account) + 1;
  return [...route.slice(next), ...route.slice(0, next)].filter(
    (name) => name !== current.account && accounts.stateOf(environment, name) === 'active',
  );
}

/**
 * If another account can return the page, the wait is a third of the deadline: a customer is waiting, and an account that
 * hangs must not use up the time. The last attempt, and a single account, have the whole deadline.
 */
export function answerWithinMs(
  deps: NextAttemptDependencies,
  { token, payment }: PaymentAggregate,
): number | undefined {
  const isLast = payment.attempt.number >= callRules.authorize.attemptsMax;
  if (payment.terms.kind !== 'hosted' || isLast || otherAccounts(deps, token, payment).length === 0)
    return undefined;
  return Math.ceil(deps.times.callDeadlineMs / callRules.authorize.attemptsMax);
}
