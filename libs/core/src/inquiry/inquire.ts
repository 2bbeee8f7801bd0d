/** One status inquiry about the payment or payout of a token, and about the tokens of its deferred callbacks. */
import type { RecentlyUsed } from '@tollgate/event-store';
import type { Log } from '@tollgate/service-kit';
import { type CallWindow } from '../domain/outbound-call/outbound-call.ts';
import { type InquiryFailure } from '../domain/failed-inquiry.ts';
import { type ObservedPayment } from '../domain/payment/payment-commands.ts';
import { type ObservedPayout } from '../domain/payout/payout-commands.ts';
import { callWithoutOutcome } from '../domain/payment/inquiry-need.ts';
import { isPayoutAwaited } from '../domain/payout/payout-state.ts';
import type { FoundPayment, InquiryOutcome } from '../provider.ts';
import type { PaymentAggregate } from '../aggregates/payments.ts';
import type { Cause } from '../aggregates/repository.ts';
import {
  type AnySubject,
  type Subjects,
  creationOf,
  isPayoutToken,
  stateOf,
  subjectsOf,
} from '../aggregates/subjects.ts';
import { type PaymentInquiryDependencies, inquirePayment, withOrigin } from './inquire-payment.ts';
import { inquirePayout } from './inquire-payout.ts';
import { failureOf } from '../outbound/ask-account.ts';
import { type InquiryResult, inquiriesPerRequestMax } from './inquiries.ts';

/** Time of the last answered inquiry, milliseconds since the Unix epoch: one that finds nothing new writes no event. */
export interface LastAnswer {
  at: number;
}
/** Maximum number of remembered inquiries; a forgotten one counts from its last change. */
export const lastAnswersMax = 50_000;

export interface InquiryDependencies extends PaymentInquiryDependencies, Subjects {
  lastAnswers: RecentlyUsed<LastAnswer>;
  log: Log;
}

export async function inquireAbout(
  deps: InquiryDependencies,
  token: string,
  cause: Cause,
): Promise<InquiryResult> {
  const result = await inquireOwn(deps, token, cause);
  if (result === 'nothing-there' || result === 'not-asked') return result;
  await inquireDeferred(deps, token, cause);
  return result;
}

/** A call that follows from the inquiry has been made before this resolves. */
async function inquireOwn(deps: InquiryDependencies, token: string, cause: Cause): Promise<InquiryResult> {
  for (let inquiries = 0; inquiries < inquiriesPerRequestMax; inquiries += 1) {
    const subject = await subjectsOf(deps, token).load(token);
    if (subject === undefined) return 'nothing-there';
    const { phase } = stateOf(subject);
    const creation = creationOf(subject);
    if (phase === 'requested' && deps.quietPeriods.inquiryTime(token, creation) < creation.answerBy)
      return 'awaiting-answer';
    const inquired =
      'payment' in subject
        ? await inquirePayment(deps, subject, cause)
        : await inquirePayout(deps, subject, cause);
    if (typeof inquired === 'object') {
      const { account } = creation;
      await recordFailure(deps, token, { ...inquired, account }, cause, deps.lastAnswers.get(token)?.at);
      return inquired.failure === 'not-asked' ? 'not-asked' : 'failed';
    }
    deps.lastAnswers.set(token, { at: deps.clock.now() });
    // If another event was recorded meanwhile, the read may be stale: read again.
    if (inquired === 'inquired') return inquired;
  }
  return 'failed';
}

function callWithoutOutcomeOf(subject: AnySubject): CallWindow | undefined {
  if ('payment' in subject) return callWithoutOutcome(subject.payment);
  return isPayoutAwaited(subject.payout) ? subject.payout.call : undefined;
}

/**
 * Passes failures to the domain, which decides when a review opens.
 *
 * @param ownAnsweredAt of the last inquiry about our own token; absent if this one was about a deferred callback's
 */
async function recordFailure(
  deps: InquiryDependencies,
  token: string,
  { failure: reason, account }: Unanswered,
  cause: Cause,
  ownAnsweredAt = 0,
): Promise<void> {
  if (reason === undefined || reason === 'not-asked') return;
  if (reason === 'account_missing') deps.log.error({ token, account }, 'the account is no longer configured');
  const subject = await subjectsOf(deps, token).load(token);
  const failedAt = deps.clock.now();
  const answeredAt = Math.max(ownAnsweredAt, subject?.updatedAt ?? 0);
  const failed = { type: 'RecordInquiryFailed', reason, account, failedAt, answeredAt } as const;
  await subjectsOf(deps, token).execute(token, failed, cause);
}

/** The account without a usable answer, and the reason; `undefined` if an answer came and no step can follow it now. */
interface Unanswered {
  failure: InquiryFailure | 'not-asked' | undefined;
  account: string;
}

/** Stops at the first one without an answer: the provider would not answer about the others. */
async function inquireDeferred(deps: InquiryDependencies, token: string, cause: Cause): Promise<void> {
  const subjects = subjectsOf(deps, token);
  for (const serviceToken of await namedByDeferred(deps, token)) {
    const result = await inquireOther(deps, token, { serviceToken }, cause);
    if (typeof result === 'object') return recordFailure(deps, token, result, cause);
    if (result !== 'inquired') return;
    await subjects.execute(token, { type: 'RecordCallbackInquired', serviceToken }, cause);
  }
}

/** The provider's tokens that an inquiry about our own does not cover. */
async function namedByDeferred(deps: InquiryDependencies, token: string): Promise<string[]> {
  const subject = await subjectsOf(deps, token).load(token);
  if (subject === undefined) return [];
  const { deferredCallbacks, serviceToken: known } = stateOf(subject);
  return deferredCallbacks.flatMap(({ serviceToken }) =>
    serviceToken !== null && serviceToken !== known ? [serviceToken] : [],
  );
}

/**
 * Inquires the token of a callback if it is not ours: possibly an abandoned attempt that took effect after all. If it was
 * made under one of our numbers, a review opens.
 *
 * @param listed its record in a list; absent if no list was read
 */
export async function inquireNamed(
  deps: InquiryDependencies,
  token: string,
  serviceToken: string,
  cause: Cause,
  listed?: Listed,
): Promise<InquiryResult> {
  const result = await inquireOther(deps, token, { serviceToken, listed }, cause);
  if (typeof result !== 'object') return result;
  return result.failure === 'not-asked' ? 'not-asked' : 'failed';
}

/** The records of a list. */
export interface Listed {
  account: string;
  /** Some deployments omit it when a payment or payout is retrieved. */
  orderNumber: string | undefined;
}

interface Named {
  serviceToken: string;
  listed?: Listed | undefined;
}

/** Of concurrent records one succeeds per try; the rest is left to the next comparison. */
const namedTriesMax = 10;

/** Others of its number may be recorded concurrently: an earlier read is repeated. */
async function inquireOther(
  deps: InquiryDependencies,
  token: string,
  named: Named,
  cause: Cause,
): Promise<InquiryResult | Unanswered> {
  for (let inquiries = 0; inquiries < namedTriesMax; inquiries += 1) {
    const result = await inquireOtherOnce(deps, token, named, cause);
    if (result !== 'moved') return result;
  }
  return 'failed';
}

async function inquireOtherOnce(
  deps: InquiryDependencies,
  token: string,
  { serviceToken, listed }: Named,
  cause: Cause,
): Promise<InquiryResult | 'moved' | Unanswered> {
  const subject = await subjectsOf(deps, token).load(token);
  if (subject === undefined) return 'nothing-there';
  if (stateOf(subject).serviceToken === serviceToken) return 'inquired';
  const taken = deps.quietPeriods.taken(token, callWithoutOutcomeOf(subject), subject.updatedAt);
  const found = await findNamed(deps, subject, { serviceToken, listed }, cause);
  if (found !== undefined && 'failure' in found) return found;
  const orderNumber = listed?.orderNumber ?? found?.orderNumber;
  if (found === undefined || orderNumber?.startsWith(`${token}.`) !== true) return 'inquired';
  const shown = { ...found, orderNumber };
  const at = { onlyAt: subject.revision };
  const executed = isPayoutToken(token)
    ? await deps.payouts.execute(
        token,
        { type: 'RecordPayoutObservation', observed: shown, ...taken },
        cause,
        at,
      )
    : await deps.payments.execute(token, { type: 'RecordObservation', observed: shown, ...taken }, cause, at);
  return executed.kind === 'moved' ? 'moved' : 'inquired';
}

/** From the first account that knows it: an earlier attempt may have used another account. */
async function findNamed(
  deps: InquiryDependencies,
  subject: AnySubject,
  { serviceToken, listed }: Named,
  cause: Cause,
): Promise<ObservedPayment | ObservedPayout | Unanswered | undefined> {
  const { environment } = stateOf(subject);
  let unanswered: Unanswered | undefined;
  for (const account of accountsOf(deps, subject, listed?.account)) {
    const outcome = await deps.askAccount<ObservedPayment | ObservedPayout>(
      { environment, account },
      cause,
      async (provider) =>
        'payout' in subject
          ? provider.inquirePayout(serviceToken)
          : observedOf(deps, subject, await provider.inquirePayment(serviceToken)),
    );
    if (outcome.kind === 'accepted') return outcome.answer;
    if (outcome.kind !== 'missing') unanswered ??= { failure: failureOf(outcome), account };
  }
  return unanswered;
}

const observedOf = (
  deps: InquiryDependencies,
  subject: PaymentAggregate,
  outcome: InquiryOutcome<FoundPayment>,
): InquiryOutcome<ObservedPayment> =>
  outcome.kind === 'accepted'
    ? { kind: 'accepted', answer: withOrigin(deps, subject, outcome.answer).observed }
    : outcome;

/**
 * A payout has one attempt, and so one account. The listing account, or that of the current attempt, comes first: another may
 * be hanging.
 */
function accountsOf({ accounts }: InquiryDependencies, subject: AnySubject, listing?: string): string[] {
  const first = listing ?? creationOf(subject).account;
  if ('payout' in subject) return [first];
  const { environment } = subject.payment;
  const names = accounts.all().flatMap((each) => (each.environment === environment ? [each.name] : []));
  return names.toSorted((a, b) => Number(b === first) - Number(a === first));
}
