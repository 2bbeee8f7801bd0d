/** The calls of a payment that both its request and an inquiry make: its creation, and its capture or void. */
import { type AnnouncedCall, callAnnouncedBy } from '../domain/payment/announced-call.ts';
import { type AuthorizationOutcome, type ObservedPayment } from '../domain/payment/payment-commands.ts';
import { callRules } from '../domain/outbound-call/outbound-call.ts';
import { isPaymentAwaited } from '../domain/payment/payment-state.ts';
import { withTermsOf } from '../domain/payment/observation.ts';
import type { AuthorizeRequest } from '../provider.ts';
import { type Clock, InvariantViolation, omitUndefined } from '@tollgate/service-kit';
import type { Permit } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { Customers } from '../aggregates/customers.ts';
import type { PaymentAggregate, PaymentDone, Payments } from '../aggregates/payments.ts';
import { type Cause, requireDone } from '../aggregates/repository.ts';
import { type AskAccount, answersThat } from './ask-account.ts';
import { type CallTimes, planAttempt } from './call-times.ts';
import { type Sender, afterAnswerBy, pauseBeforeRepeat } from './send.ts';

export interface PaymentCallsDependencies {
  payments: Payments;
  customers: Pick<Customers, 'keep' | 'release'>;
  accounts: Accounts;
  askAccount: AskAccount;
  sender: Sender;
  times: CallTimes;
  callbackUrlOf: (environment: string, token: string, issuedAt: number) => string;
  /** Aborted when the process stops. */
  stopping: AbortSignal;
  clock: Clock;
}

/** Sent and not recorded: means of payment and customer. In memory from the request to the call. */
export type SentOnly = Pick<AuthorizeRequest, 'source' | 'customer'>;

type Announced<Operation> = Extract<AnnouncedCall, { operation: Operation }>;

/** The call of this operation that this process has just announced with these events. */
export function announcedCall<Operation extends AnnouncedCall['operation']>(
  { events, aggregate }: PaymentDone,
  ...operations: readonly Operation[]
): Announced<Operation> | undefined {
  const call = callAnnouncedBy(events, aggregate.payment);
  const isWanted = (each: AnnouncedCall): each is Announced<Operation> =>
    operations.some((operation) => operation === each.operation);
  return call !== undefined && isWanted(call) ? call : undefined;
}

/** Shared by all attempts of one request. */
interface Authorizing {
  cause: Cause;
  sent: SentOnly;
  /** True once no caller waits for the answer: then no further attempt begins. */
  isGivenUp: () => boolean;
}

/** Makes the announced attempt, then those that its outcome announces. Resolves at once if nothing was announced. */
export function authorize(
  deps: PaymentCallsDependencies,
  announced: PaymentDone,
  permit: Permit,
  { cause, sent }: Pick<Authorizing, 'cause' | 'sent'>,
): Promise<PaymentAggregate> {
  const isGivenUp = afterAnswerBy(deps, announced.aggregate.payment.attempt, permit);
  return deps.sender.track(
    announced.aggregate.token,
    attempt(deps, announced, permit, { cause, sent, isGivenUp }),
  );
}

/** The domain announces a bounded number of attempts. */
async function attempt(
  deps: PaymentCallsDependencies,
  announced: PaymentDone,
  permit: Permit,
  authorizing: Authorizing,
): Promise<PaymentAggregate> {
  const { aggregate } = announced;
  const call = announcedCall(announced, 'authorize');
  if (call === undefined) return aggregate;
  const { isGivenUp } = authorizing;
  const outcome = await sendAttempt(deps, announced, permit, call, authorizing);
  const isOver = isGivenUp() || deps.stopping.aborted || !mayBeFollowed(deps, aggregate, outcome);
  using next = isOver ? undefined : await permitAfter(deps, aggregate, outcome);
  if (outcome.kind === 'not-sent' && next?.account === call.account)
    await pauseBeforeRepeat(deps, call.attemptNumber);
  // The process may have been suspended since.
  const following = isGivenUp() ? undefined : next;
  const ended = following === undefined ? unfollowed(deps, aggregate, outcome) : outcome;
  const recorded = await record(deps, aggregate, ended, { ...authorizing, following });
  return following === undefined ? recorded.aggregate : await attempt(deps, recorded, following, authorizing);
}

async function sendAttempt(
  deps: PaymentCallsDependencies,
  announced: PaymentDone,
  permit: Permit,
  { operation, window, account }: Announced<'authorize'>,
  { cause, sent }: Authorizing,
): Promise<AuthorizationOutcome> {
  const { environment, terms } = announced.aggregate.payment;
  const request = toRequest(deps, announced.aggregate, sent);
  const { orderNumber } = request;
  const hasNoEffect = async () =>
    answersThat(
      await deps.askAccount({ environment, account }, cause, (provider) =>
        provider.listPayments({ orderNumber }),
      ),
      (found) => found.length === 0,
    );
  return deps.sender.send({
    announced,
    operation,
    window,
    permit,
    send: (provider, maySend) => provider.authorize(request, maySend),
    hasNoEffect,
    isConfirmed: (outcome) => terms.kind !== 'hosted' || !mayBeFollowed(deps, announced.aggregate, outcome),
  });
}

/** The request of the payment's current attempt. The team's order number and callback URL are not sent. */
function toRequest(
  deps: PaymentCallsDependencies,
  aggregate: PaymentAggregate,
  { source, customer }: SentOnly,
): AuthorizeRequest {
  const { token, payment } = aggregate;
  const { environment, terms, attempt: current } = payment;
  const { amount, currency, redirectSuccessUrl, redirectFailUrl, locale } = terms;
  const kind = source === undefined ? 'hosted' : 'card' in source ? 'card' : 'recurring';
  // Without a means of payment, the call would request a hosted page instead.
  if (kind !== terms.kind) throw new InvariantViolation('a charge has no card and no stored card');
  return {
    product: kind === 'hosted' ? productOnPage(terms) : terms.product,
    amount,
    currency,
    orderNumber: current.providerOrderNumber,
    callbackUrl: deps.callbackUrlOf(environment, token, current.sendBy),
    isCaptureDeferred: terms.needConfirmation,
    isRecurring: terms.recurring === true,
    ...omitUndefined({
      redirectSuccessUrl,
      redirectFailUrl,
      locale,
      customer,
      source,
      answerWithinMs: answerWithinMs(deps, aggregate),
    }),
  };
}

const productLengthMax = 255;

/** With the team's order number, because the page shows the attempt's number as that of the order. */
function productOnPage({ product, orderNumber }: PaymentAggregate['payment']['terms']): string {
  const named = `${product} · ${orderNumber ?? ''}`;
  return orderNumber === undefined || product.includes(orderNumber) || named.length > productLengthMax
    ? product
    : named;
}

/**
 * If another account can return the page, the wait is a third of the deadline: a customer is waiting, and an account that
 * hangs must not use up the time. The last attempt, and a single account, have the whole deadline.
 */
function answerWithinMs(
  deps: PaymentCallsDependencies,
  { token, payment }: PaymentAggregate,
): number | undefined {
  const isLast = payment.attempt.number >= callRules.authorize.attemptsMax;
  if (payment.terms.kind !== 'hosted' || isLast || otherAccounts(deps, token, payment).length === 0)
    return undefined;
  return Math.ceil(deps.times.callDeadlineMs / callRules.authorize.attemptsMax);
}

/**
 * A page that no customer received is followed by another one whatever the outcome, unless the request itself was refused. A
 * charge is followed only if it certainly had no effect.
 */
function mayBeFollowed(
  deps: PaymentCallsDependencies,
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
 * The outcome of a page that nothing has followed, though another one might have. After a stop an inquiry leads to it. A
 * refusal was not confirmed, so its page may be there. A card is gone by then: its outcome holds.
 */
function unfollowed(
  deps: PaymentCallsDependencies,
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

/** The attempt after the payment's current one, under a permit; none if the current one is the last. */
export function attemptAfter(
  { clock, times }: Pick<PaymentCallsDependencies, 'clock' | 'times'>,
  { token, payment }: PaymentAggregate,
  { account }: Permit,
) {
  const number = payment.attempt.number + 1;
  if (number > callRules.authorize.attemptsMax) return {};
  return { nextAttempt: planAttempt(token, { number, account, now: clock.now(), times }) };
}

/** The active accounts other than the current one, in the order in which the payment's accounts are tried. */
function otherAccounts(
  { accounts }: PaymentCallsDependencies,
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

/** Another account first, and the current one if it has not refused us. A recurring token belongs to one account. */
async function permitAfter(
  deps: PaymentCallsDependencies,
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

/** Records the outcome, and announces the next attempt under the permit that follows. */
async function record(
  deps: PaymentCallsDependencies,
  aggregate: PaymentAggregate,
  outcome: AuthorizationOutcome,
  { cause, sent, following }: Authorizing & { following?: Permit | undefined },
): Promise<PaymentDone> {
  const { payments, customers } = deps;
  const { token, payment } = aggregate;
  const next = following === undefined ? {} : attemptAfter(deps, aggregate, following);
  const observation = {
    type: 'RecordAuthorizationOutcome',
    attemptNumber: payment.attempt.number,
    outcome,
    ...next,
  } as const;
  const execute = async () => requireDone(await payments.execute(token, observation, cause));
  // An inquiry makes a further attempt of a page only, and needs the customer for it.
  const isLeftOpen = outcome.kind === 'unknown' && following === undefined;
  if (!isLeftOpen || sent.customer === undefined || payment.terms.kind !== 'hosted') return execute();
  await customers.keep(token, sent.customer, cause);
  const recorded = await execute();
  // An inquiry was faster.
  if (!isPaymentAwaited(recorded.aggregate.payment)) await customers.release(token);
  return recorded;
}

/** Makes the announced capture or void, once. Resolves at once if nothing was announced. */
export async function captureOrVoidOnce(
  deps: PaymentCallsDependencies,
  announced: PaymentDone,
  permit: Permit,
  cause: Cause,
): Promise<PaymentAggregate> {
  const { aggregate } = announced;
  const call = announcedCall(announced, 'capture', 'void');
  return call === undefined
    ? aggregate
    : deps.sender.track(aggregate.token, sendCaptureOrVoid(deps, announced, permit, { call, cause }));
}

async function sendCaptureOrVoid(
  { payments, sender }: PaymentCallsDependencies,
  announced: PaymentDone,
  permit: Permit,
  { call, cause }: { call: Announced<'capture' | 'void'>; cause: Cause },
): Promise<PaymentAggregate> {
  const { operation, window, submission } = call;
  const { token, payment } = announced.aggregate;
  const serviceToken = requireServiceToken(payment.serviceToken);
  const outcome = await sender.send<{ observed?: ObservedPayment }>({
    announced,
    operation,
    window,
    permit,
    async send(provider, maySend) {
      const answer = await provider[operation](serviceToken, maySend);
      if (answer.kind !== 'accepted') return answer;
      const { observed } = answer;
      return { kind: 'accepted', ...omitUndefined({ observed: observed && withTermsOf(payment, observed) }) };
    },
  });
  const observation = { type: 'RecordCaptureOrVoidOutcome', operation, submission, outcome } as const;
  return requireDone(await payments.execute(token, observation, cause)).aggregate;
}

export function requireServiceToken(serviceToken: string | undefined): string {
  if (serviceToken === undefined)
    throw new InvariantViolation('the provider never returned a token for this payment');
  return serviceToken;
}
