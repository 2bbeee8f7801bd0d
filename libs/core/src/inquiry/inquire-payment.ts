/** Inquires about a payment, and records changes. */
import { type InquiryFailure } from '../domain/failed-inquiry.ts';
import {
  type ObservedPayment,
  type PaymentObservation,
  type RecordSearch,
} from '../domain/payment/payment-commands.ts';
import { isPaymentAwaited } from '../domain/payment/payment-state.ts';
import { likeliestOf } from '../domain/payment/creation.ts';
import { callWithoutOutcome } from '../domain/payment/inquiry-need.ts';
import { withTermsOf } from '../domain/payment/observation.ts';
import { windowAt } from '../domain/outbound-call/outbound-call.ts';
import type { FoundPayment } from '../provider.ts';
import { omitUndefined } from '@tollgate/service-kit';
import type { Permit } from '../accounts.ts';
import type { PaymentAggregate } from '../aggregates/payments.ts';
import type { RecurringTokens } from '../aggregates/recurring-tokens.ts';
import { type Cause, requireDone } from '../aggregates/repository.ts';
import { type PaymentCallsDependencies, authorize, captureOrVoidOnce } from '../outbound/payment-calls.ts';
import { attemptAfter } from '../outbound/next-attempt.ts';
import type { QuietPeriods } from '../outbound/quiet-periods.ts';
import { deriveRecurringAlias } from '../tokens.ts';
import { failureOf } from '../outbound/ask-account.ts';

export interface PaymentInquiryDependencies extends PaymentCallsDependencies {
  recurringTokens: RecurringTokens;
  quietPeriods: QuietPeriods;
}

/**
 * `moved`: another event was recorded meanwhile, so the read may be stale. A failure is undefined if an answer came and no step
 * can follow it now.
 */
export type Inquired = 'inquired' | 'moved' | { failure: InquiryFailure | 'not-asked' | undefined };

// Failed payments are inquired as well: if one is found, a review opens.
export async function inquirePayment(
  deps: PaymentInquiryDependencies,
  aggregate: PaymentAggregate,
  cause: Cause,
): Promise<Inquired> {
  const { payment } = aggregate;
  const { serviceToken } = payment;
  return isPaymentAwaited(payment) || serviceToken === undefined
    ? search(deps, aggregate, cause)
    : retrieve(deps, aggregate, serviceToken, cause);
}

/** Searches the payment of the current attempt by its unique order number. */
async function search(
  deps: PaymentInquiryDependencies,
  aggregate: PaymentAggregate,
  cause: Cause,
): Promise<Inquired> {
  const { payment, token } = aggregate;
  const { number: attemptNumber, providerOrderNumber: orderNumber } = payment.attempt;
  const inquiredAt = deps.quietPeriods.inquiryTime(token, callWithoutOutcome(payment));
  const outcome = await deps.askAccount(accountOf(aggregate), cause, (provider) =>
    provider.listPayments({ orderNumber }),
  );
  if (outcome.kind !== 'accepted') return { failure: failureOf(outcome) };
  const listed = outcome.answer.map((each) => withOrigin(deps, aggregate, each));
  // The recurring token of a foreign payment would charge another customer.
  const likeliest = likeliestOf(
    payment,
    listed.map(({ observed }) => observed),
  );
  const ours = listed.find(({ observed }) => observed === likeliest);
  const shown = ours && (await observedFrom(deps, aggregate, ours, cause));
  const found = listed.map((each) => (each === ours && shown !== undefined ? shown : each.observed));
  const observation = { type: 'RecordSearch' as const, attemptNumber, found, inquiredAt };
  // No customer received the page of this attempt, so the next one needs no lasting absence.
  const mayAttemptAgain = isPaymentAwaited(payment) && found.length === 0 && payment.terms.kind === 'hosted';
  if (!mayAttemptAgain) return recordSearch(deps, token, observation, cause);
  using permit = await permitFor(deps, aggregate);
  // Without a permit nothing can be sent now, so nothing is abandoned: the next inquiry finds the same.
  if (permit === undefined) return { failure: undefined };
  const next = attemptAfter(deps, aggregate, permit);
  return await recordSearch(deps, token, { ...observation, ...next }, cause, permit);
}

/** @param permit of the attempt that may follow. The customer's data was held in memory only, and is not sent again. */
async function recordSearch(
  deps: PaymentInquiryDependencies,
  token: string,
  search: RecordSearch,
  cause: Cause,
  permit?: Permit,
): Promise<'inquired'> {
  const recorded = requireDone(await deps.payments.execute(token, search, cause));
  if (permit !== undefined) await authorize(deps, recorded, permit, { cause, sent: {} });
  return 'inquired';
}

async function retrieve(
  deps: PaymentInquiryDependencies,
  aggregate: PaymentAggregate,
  serviceToken: string,
  cause: Cause,
): Promise<Inquired> {
  const { token, payment, updatedAt } = aggregate;
  const taken = deps.quietPeriods.taken(token, callWithoutOutcome(payment), updatedAt);
  const { inquiredAt } = taken;
  const outcome = await deps.askAccount(accountOf(aggregate), cause, (provider) =>
    provider.inquirePayment(serviceToken),
  );
  if (outcome.kind === 'missing')
    return record(deps, aggregate, { type: 'RecordMissing', serviceToken, inquiredAt }, cause);
  if (outcome.kind !== 'accepted') return { failure: failureOf(outcome) };
  const shown = { ...outcome.answer, observed: withTermsOf(payment, outcome.answer.observed) };
  const observed = await observedFrom(deps, aggregate, shown, cause);
  const observation = { type: 'RecordObservation' as const, observed, ...taken };
  using permit = mayNeedSubmission(aggregate, inquiredAt) ? await permitFor(deps, aggregate) : undefined;
  if (permit === undefined) return await record(deps, aggregate, observation, cause);
  const nextWindow = windowAt(deps.clock.now(), deps.times);
  return await record(deps, aggregate, { ...observation, nextWindow }, cause, permit);
}

/** True if a capture or void without an outcome may have to be submitted again. */
function mayNeedSubmission(
  { payment: { phase, captureOrVoid } }: PaymentAggregate,
  inquiredAt: number,
): boolean {
  const isUnderWay = phase === 'capturing' || phase === 'voiding';
  return isUnderWay && captureOrVoid !== undefined && inquiredAt >= captureOrVoid.quietUntil;
}

/** The result applies to one revision: after another one it may be stale. */
async function record(
  deps: PaymentInquiryDependencies,
  { token, revision: onlyAt }: PaymentAggregate,
  observation: PaymentObservation,
  cause: Cause,
  permit?: Permit,
): Promise<'inquired' | 'moved'> {
  const executed = await deps.payments.execute(token, observation, cause, { onlyAt });
  if (executed.kind === 'moved') return 'moved';
  const recorded = requireDone(executed);
  if (permit !== undefined) await captureOrVoidOnce(deps, recorded, permit, cause);
  return 'inquired';
}

const accountOf = ({ payment: { environment, attempt } }: PaymentAggregate) => ({
  environment,
  account: attempt.account,
});

async function permitFor(
  { accounts }: PaymentInquiryDependencies,
  { payment }: PaymentAggregate,
): Promise<Permit | undefined> {
  const result = await accounts.permitOf(payment.environment, payment.attempt.account);
  return result.kind === 'permit' ? result.permit : undefined;
}

/** Whether it calls back to us. The URL itself is a capability and is not passed on. */
export function withOrigin(
  { callbackUrlOf }: PaymentInquiryDependencies,
  { token, payment }: PaymentAggregate,
  { callbackUrl, ...found }: FoundPayment,
): FoundPayment<ObservedPayment> {
  const { environment, attempt } = payment;
  const hasOurCallback = isOwnCallback(callbackUrlOf(environment, token, attempt.sendBy), callbackUrl);
  const observed = withTermsOf(payment, found.observed);
  return { ...found, observed: { ...observed, ...omitUndefined({ hasOurCallback }) } };
}

/** The payment as the domain sees it. A recurring token is stored behind its alias first, so that no alias is dangling. */
async function observedFrom(
  { recurringTokens }: PaymentInquiryDependencies,
  { token, payment }: PaymentAggregate,
  { observed, recurringToken: serviceRecurringToken }: FoundPayment<ObservedPayment>,
  cause: Cause,
): Promise<ObservedPayment> {
  const isWanted = payment.terms.recurring === true && payment.recurringToken === undefined;
  if (!isWanted || serviceRecurringToken === undefined) return observed;
  const { environment, team, attempt } = payment;
  const { account } = attempt;
  const alias = deriveRecurringAlias(environment, token);
  await recurringTokens.keep(
    alias,
    { environment, team, account, serviceRecurringToken, paymentToken: token },
    cause,
  );
  return { ...observed, recurringToken: alias };
}

/**
 * True if the provider calls back to the URL that we sent for this payment. Base URLs move and secrets rotate: it is ours if
 * either matches the current one. Undefined if no URL shows, or it is unreadable.
 *
 * @param own the current URL, whose last segment is the capability
 */
export function isOwnCallback(own: string, shown: string | undefined): boolean | undefined {
  const [address, theirs] = [URL.parse(own), URL.parse(shown ?? '')];
  if (address === null || theirs === null) return undefined;
  const [ours, other] = [partsOf(address), partsOf(theirs)];
  return ours.base === other.base || ours.capability === other.capability;
}

function partsOf({ origin, pathname }: URL): { base: string; capability: string } {
  const end = pathname.lastIndexOf('/');
  return { base: `${origin}${pathname.slice(0, end)}`, capability: pathname.slice(end) };
}
