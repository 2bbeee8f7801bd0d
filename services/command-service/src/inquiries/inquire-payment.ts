/** Finds out what the Payment Service says about a payment, and records what is new. Looking changes nothing there. */
import type { ServicePayment } from '@tollgate/payment-api';
import type { InquiryFailure, ObservedPayment, PaymentCommand } from '@tollgate/payment-domain';
import type { PaymentView } from '@tollgate/views';
import type { Clock, Log } from '@tollgate/service-kit';
import type { Accounts } from '../accounts/accounts.ts';
import type { Permit } from '../accounts/account.ts';
import { type CallTimes, windowAt } from '../calls/call-times.ts';
import { type CarryOutPaymentCalls, nextAttemptUnder } from '../calls/payment-calls.ts';
import { fromServicePayment } from '../provider-mapping.ts';
import type { Payments } from '../streams/payments.ts';
import type { RecurringTokens } from '../streams/recurring-tokens.ts';
import { type Cause, requireDone } from '../streams/repository.ts';
import { deriveRecurringAlias } from '../tokens.ts';
import type { AccountName, AskAccount } from './ask-account.ts';
import { failureOf, isNotFound } from './inquiry-failure.ts';
import { type InquiryResult, inquiriesPerRequestMax } from './inquiry-result.ts';

export interface PaymentInquiryDependencies {
  payments: Payments;
  recurringTokens: RecurringTokens;
  accounts: Accounts;
  askAccount: AskAccount;
  times: CallTimes;
  carryOut: CarryOutPaymentCalls;
  clock: Clock;
  log: Log;
}

/** What a look has found out, and the permit for the call that may follow from it. */
interface Found {
  command: PaymentCommand;
  /** The revision that it was found for; undefined where it counts at any. */
  onlyAt?: number;
  permit?: Permit;
}

/** A look that found nothing out. */
interface Unread {
  failure: InquiryFailure | undefined;
}

/** Looks at one payment. A call that the look leads to has been made before this resolves. */
export async function inquirePayment(
  deps: PaymentInquiryDependencies,
  token: string,
  cause: Cause,
): Promise<InquiryResult> {
  for (let inquiries = 0; inquiries < inquiriesPerRequestMax; inquiries += 1) {
    const view = await deps.payments.load(token);
    if (view === undefined) return 'nothing-there';
    const result = await inquireOnce(deps, view, cause);
    if (result !== 'moved') return result;
  }
  return 'failed';
}

async function inquireOnce(
  deps: PaymentInquiryDependencies,
  view: PaymentView,
  cause: Cause,
): Promise<InquiryResult | 'moved'> {
  const { phase, attempt, serviceToken } = view.payment;
  if (phase === 'requested' && deps.clock.now() < attempt.answerBy) return 'awaiting-answer';
  // A failed payment too: what is found of it after all is a person's business.
  const found =
    isAwaited(view) || serviceToken === undefined
      ? await seekAttempt(deps, view, cause)
      : await retrieve(deps, view, { serviceToken, cause });
  return 'command' in found
    ? record(deps, view.token, found, cause)
    : recordFailure(deps, view, found.failure, cause);
}

/** How long a look may fail before a person is called, the domain decides. */
async function recordFailure(
  { payments, clock, log }: PaymentInquiryDependencies,
  { token, payment: { attempt } }: PaymentView,
  reason: InquiryFailure | undefined,
  cause: Cause,
): Promise<'failed'> {
  if (reason === undefined) return 'failed';
  const { account } = attempt;
  if (reason === 'account_missing') log.error({ token, account }, 'the account is not configured any more');
  const command = { type: 'RecordLookFailed' as const, reason, account, failedAt: clock.now() };
  await payments.execute(token, command, cause);
  return 'failed';
}

const accountOf = ({ payment: { environment, attempt } }: PaymentView): AccountName => ({
  environment,
  account: attempt.account,
});

const isAwaited = ({ payment: { phase } }: PaymentView): boolean =>
  phase === 'requested' || phase === 'unresolved';

/** What was read before something else was recorded may be older than that: it is read again. */
async function record(
  { payments, carryOut }: PaymentInquiryDependencies,
  token: string,
  { command, onlyAt, permit }: Found,
  cause: Cause,
): Promise<'inquired' | 'moved'> {
  let isPermitUsed = false;
  try {
    const executed = await payments.execute(token, command, cause, onlyAt);
    if (executed.kind === 'moved') return 'moved';
    const done = requireDone(executed);
    isPermitUsed = permit !== undefined;
    if (permit !== undefined) await carryOut(done, permit, cause);
    return 'inquired';
  } finally {
    if (!isPermitUsed) permit?.release('unused');
  }
}

/** Looks for the payment of the current attempt, by the number that only this attempt has. */
async function seekAttempt(
  deps: PaymentInquiryDependencies,
  view: PaymentView,
  cause: Cause,
): Promise<Found | Unread> {
  const { number, providerOrderNumber, quietUntil } = view.payment.attempt;
  const inquiredAt = deps.clock.now();
  const outcome = await deps.askAccount(accountOf(view), (client) =>
    client.listPayments({ orderNumber: providerOrderNumber }),
  );
  logInquiry(deps, view, 'list', outcome.kind);
  if (outcome.kind !== 'accepted') return { failure: failureOf(outcome) };
  const [first, ...others] = outcome.answer;
  const found = [
    ...(first === undefined ? [] : [await observedFrom(deps, view, first, cause)]),
    ...others.map(fromServicePayment),
  ];
  const command = { type: 'RecordLookup' as const, attemptNumber: number, found, inquiredAt };
  const mayBeFollowed =
    isAwaited(view) && found.length === 0 && inquiredAt >= quietUntil && view.payment.terms.kind === 'hosted';
  const permit = mayBeFollowed ? await permitFor(deps, view) : undefined;
  // Without a permit nothing can be sent now, and so nothing is given up: the next look finds the same.
  if (mayBeFollowed && permit === undefined) return { failure: undefined };
  if (permit === undefined) return { command };
  return { command: { ...command, ...nextAttemptUnder(deps, view, permit) }, permit };
}

async function retrieve(
  deps: PaymentInquiryDependencies,
  view: PaymentView,
  { serviceToken, cause }: { serviceToken: string; cause: Cause },
): Promise<Found | Unread> {
  const inquiredAt = deps.clock.now();
  const outcome = await deps.askAccount(accountOf(view), (client) => client.retrievePayment(serviceToken));
  logInquiry(deps, view, 'retrieve', outcome.kind);
  if (outcome.kind === 'refused' && isNotFound(outcome.errors))
    return { command: { type: 'RecordMissing', serviceToken }, onlyAt: view.revision };
  if (outcome.kind !== 'accepted') return { failure: failureOf(outcome) };
  const observed = await observedFrom(deps, view, outcome.answer, cause);
  const command = { type: 'RecordObservation' as const, observed, inquiredAt };
  const found = { command, onlyAt: view.revision };
  if (!mayNeedSubmission(view, inquiredAt)) return found;
  const permit = await permitFor(deps, view);
  if (permit === undefined) return found;
  const nextWindow = windowAt(deps.clock.now(), deps.times);
  return { ...found, command: { ...command, nextWindow }, permit };
}

/** True where a confirmation or decline without an outcome may have to be submitted again. */
function mayNeedSubmission({ payment: { phase, captureOrVoid } }: PaymentView, inquiredAt: number): boolean {
  const isUnderWay = phase === 'capturing' || phase === 'voiding';
  return isUnderWay && captureOrVoid !== undefined && inquiredAt >= captureOrVoid.quietUntil;
}

async function permitFor(
  { accounts }: PaymentInquiryDependencies,
  { payment }: PaymentView,
): Promise<Permit | undefined> {
  const result = await accounts.permitOf(payment.environment, payment.attempt.account);
  return result.kind === 'permit' ? result.permit : undefined;
}

/** The payment as the domain sees it. A recurring token goes behind its alias first, so that the alias never leads nowhere. */
async function observedFrom(
  { recurringTokens }: PaymentInquiryDependencies,
  { token, payment }: PaymentView,
  answer: ServicePayment,
  cause: Cause,
): Promise<ObservedPayment> {
  const observed = fromServicePayment(answer);
  const serviceRecurringToken = answer.recurringToken ?? undefined;
  const isWanted = payment.terms.recurring === true && payment.recurringToken === undefined;
  if (!isWanted || serviceRecurringToken === undefined) return observed;
  const { environment, team, attempt } = payment;
  const recurringToken = deriveRecurringAlias(environment, token);
  const { account } = attempt;
  await recurringTokens.keep(
    recurringToken,
    { environment, team, account, serviceRecurringToken, paymentToken: token },
    cause,
  );
  return { ...observed, recurringToken };
}

/**
 * Looks at a payment of the service that a callback names and that is not the one we know: an attempt that was given up
 * and took effect after all, perhaps. If it is one of this payment's attempts, a person is called.
 */
export async function inquireForSecondPayment(
  deps: PaymentInquiryDependencies,
  token: string,
  serviceToken: string,
  cause: Cause,
): Promise<InquiryResult> {
  const view = await deps.payments.load(token);
  if (view === undefined) return 'nothing-there';
  if (view.payment.serviceToken === serviceToken) return 'inquired';
  const inquiredAt = deps.clock.now();
  const answer = await retrieveFromAny(deps, view, serviceToken);
  if (answer === 'failed') return 'failed';
  if (answer?.orderNumber?.startsWith(`${token}.`) !== true) return 'inquired';
  const command = { type: 'RecordObservation' as const, observed: fromServicePayment(answer), inquiredAt };
  const executed = await deps.payments.execute(token, command, cause, view.revision);
  return executed.kind === 'moved' ? 'failed' : 'inquired';
}

/** A payment as the first account shows it that knows it: an earlier attempt may have been made with another account. */
async function retrieveFromAny(
  deps: PaymentInquiryDependencies,
  view: PaymentView,
  serviceToken: string,
): Promise<ServicePayment | 'failed' | undefined> {
  const { environment } = view.payment;
  let hasFailed = false;
  for (const account of deps.accounts.all()) {
    if (account.environment !== environment) continue;
    const outcome = await deps.askAccount({ environment, account: account.name }, (client) =>
      client.retrievePayment(serviceToken),
    );
    logInquiry(deps, view, 'retrieve', outcome.kind);
    if (outcome.kind === 'accepted') return outcome.answer;
    hasFailed ||= outcome.kind !== 'refused' || !isNotFound(outcome.errors);
  }
  return hasFailed ? 'failed' : undefined;
}

function logInquiry(
  { log }: PaymentInquiryDependencies,
  { token, payment }: PaymentView,
  operation: string,
  outcome: string,
): void {
  log.debug({ token, account: payment.attempt.account, operation, outcome }, 'looked at the Payment Service');
}
