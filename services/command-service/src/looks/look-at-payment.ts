/** Finds out what the Payment Service says about a payment, and records what is new. Looking changes nothing there. */
import type { ServicePayment } from '@tollgate/payment-api';
import type { LookFailure, ObservedPayment, PaymentCommand } from '@tollgate/payment-domain';
import type { PaymentDocument } from '@tollgate/read-models';
import type { Clock, Log } from '@tollgate/service-kit';
import type { Accounts, Permit } from '../accounts/accounts.ts';
import { type CallTimes, windowAt } from '../calls/call-times.ts';
import { type CarryOutPaymentCalls, nextAttemptUnder } from '../calls/payment-calls.ts';
import { fromServicePayment } from '../provider-mapping.ts';
import type { Payments } from '../streams/payments.ts';
import type { RecurringTokens } from '../streams/recurring-tokens.ts';
import { type Cause, requireDone } from '../streams/repository.ts';
import { deriveRecurringAlias } from '../tokens.ts';
import type { AccountName, AskAccount } from './ask-account.ts';
import { failureOf, isNotFound } from './look-failure.ts';
import { type LookResult, looksPerRequestMax } from './look-result.ts';

export interface PaymentLookDependencies {
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
  failure: LookFailure | undefined;
}

/** Looks at one payment. A call that the look leads to has been made before this resolves. */
export async function lookAtPayment(
  deps: PaymentLookDependencies,
  token: string,
  cause: Cause,
): Promise<LookResult> {
  for (let looks = 0; looks < looksPerRequestMax; looks += 1) {
    const document = await deps.payments.load(token);
    if (document === undefined) return 'nothing-there';
    const result = await lookOnce(deps, document, cause);
    if (result !== 'moved') return result;
  }
  return 'failed';
}

async function lookOnce(
  deps: PaymentLookDependencies,
  document: PaymentDocument,
  cause: Cause,
): Promise<LookResult | 'moved'> {
  const { phase, attempt, serviceToken } = document.payment;
  if (phase === 'requested' && deps.clock.now() < attempt.answerBy) return 'awaiting-answer';
  // A failed payment too: what is found of it after all is a person's business.
  const found =
    isAwaited(document) || serviceToken === undefined
      ? await seekAttempt(deps, document, cause)
      : await retrieve(deps, document, { serviceToken, cause });
  return 'command' in found
    ? record(deps, document.token, found, cause)
    : recordFailure(deps, document, found.failure, cause);
}

/** How long a look may fail before a person is called, the domain decides. */
async function recordFailure(
  { payments, clock, log }: PaymentLookDependencies,
  { token, payment: { attempt } }: PaymentDocument,
  reason: LookFailure | undefined,
  cause: Cause,
): Promise<'failed'> {
  if (reason === undefined) return 'failed';
  const { account } = attempt;
  if (reason === 'account_missing') log.error({ token, account }, 'the account is not configured any more');
  const command = { type: 'RecordLookFailed' as const, reason, account, failedAt: clock.now() };
  await payments.execute(token, command, cause);
  return 'failed';
}

const accountOf = ({ payment: { environment, attempt } }: PaymentDocument): AccountName => ({
  environment,
  account: attempt.account,
});

const isAwaited = ({ payment: { phase } }: PaymentDocument): boolean =>
  phase === 'requested' || phase === 'unresolved';

/** What was read before something else was recorded may be older than that: it is read again. */
async function record(
  { payments, carryOut }: PaymentLookDependencies,
  token: string,
  { command, onlyAt, permit }: Found,
  cause: Cause,
): Promise<'looked' | 'moved'> {
  let isPermitUsed = false;
  try {
    const executed = await payments.execute(token, command, cause, onlyAt);
    if (executed.kind === 'moved') return 'moved';
    const done = requireDone(executed);
    isPermitUsed = permit !== undefined;
    if (permit !== undefined) await carryOut(done, permit, cause);
    return 'looked';
  } finally {
    if (!isPermitUsed) permit?.release('unused');
  }
}

/** Looks for the payment of the current attempt, by the number that only this attempt has. */
async function seekAttempt(
  deps: PaymentLookDependencies,
  document: PaymentDocument,
  cause: Cause,
): Promise<Found | Unread> {
  const { number, providerOrderNumber, quietUntil } = document.payment.attempt;
  const lookedAt = deps.clock.now();
  const outcome = await deps.askAccount(accountOf(document), (client) =>
    client.listPayments({ orderNumber: providerOrderNumber }),
  );
  logLook(deps, document, 'list', outcome.kind);
  if (outcome.kind !== 'accepted') return { failure: failureOf(outcome) };
  const [first, ...others] = outcome.answer;
  const found = [
    ...(first === undefined ? [] : [await observedFrom(deps, document, first, cause)]),
    ...others.map(fromServicePayment),
  ];
  const command = { type: 'RecordLookup' as const, attemptNumber: number, found, lookedAt };
  const mayBeFollowed =
    isAwaited(document) &&
    found.length === 0 &&
    lookedAt >= quietUntil &&
    document.payment.terms.kind === 'hosted';
  const permit = mayBeFollowed ? await permitFor(deps, document) : undefined;
  // Without a permit nothing can be sent now, and so nothing is given up: the next look finds the same.
  if (mayBeFollowed && permit === undefined) return { failure: undefined };
  if (permit === undefined) return { command };
  return { command: { ...command, ...nextAttemptUnder(deps, document, permit) }, permit };
}

async function retrieve(
  deps: PaymentLookDependencies,
  document: PaymentDocument,
  { serviceToken, cause }: { serviceToken: string; cause: Cause },
): Promise<Found | Unread> {
  const lookedAt = deps.clock.now();
  const outcome = await deps.askAccount(accountOf(document), (client) =>
    client.retrievePayment(serviceToken),
  );
  logLook(deps, document, 'retrieve', outcome.kind);
  if (outcome.kind === 'refused' && isNotFound(outcome.errors))
    return { command: { type: 'RecordMissing', serviceToken }, onlyAt: document.revision };
  if (outcome.kind !== 'accepted') return { failure: failureOf(outcome) };
  const observed = await observedFrom(deps, document, outcome.answer, cause);
  const command = { type: 'RecordObservation' as const, observed, lookedAt };
  const found = { command, onlyAt: document.revision };
  if (!mayNeedSubmission(document, lookedAt)) return found;
  const permit = await permitFor(deps, document);
  if (permit === undefined) return found;
  const nextWindow = windowAt(deps.clock.now(), deps.times);
  return { ...found, command: { ...command, nextWindow }, permit };
}

/** True where a confirmation or decline without an outcome may have to be submitted again. */
function mayNeedSubmission({ payment: { phase, twoStep } }: PaymentDocument, lookedAt: number): boolean {
  const isUnderWay = phase === 'confirming' || phase === 'declining';
  return isUnderWay && twoStep !== undefined && lookedAt >= twoStep.quietUntil;
}

async function permitFor(
  { accounts }: PaymentLookDependencies,
  { payment }: PaymentDocument,
): Promise<Permit | undefined> {
  const result = await accounts.permitOf(payment.environment, payment.attempt.account);
  return result.kind === 'permit' ? result.permit : undefined;
}

/** The payment as the domain sees it. A recurring token goes behind its alias first, so that the alias never leads nowhere. */
async function observedFrom(
  { recurringTokens }: PaymentLookDependencies,
  { token, payment }: PaymentDocument,
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
export async function lookForSecondPayment(
  deps: PaymentLookDependencies,
  token: string,
  serviceToken: string,
  cause: Cause,
): Promise<LookResult> {
  const document = await deps.payments.load(token);
  if (document === undefined) return 'nothing-there';
  if (document.payment.serviceToken === serviceToken) return 'looked';
  const lookedAt = deps.clock.now();
  const answer = await retrieveFromAny(deps, document, serviceToken);
  if (answer === 'failed') return 'failed';
  if (answer?.orderNumber?.startsWith(`${token}.`) !== true) return 'looked';
  const command = { type: 'RecordObservation' as const, observed: fromServicePayment(answer), lookedAt };
  const executed = await deps.payments.execute(token, command, cause, document.revision);
  return executed.kind === 'moved' ? 'failed' : 'looked';
}

/** A payment as the first account shows it that knows it: an earlier attempt may have been made with another account. */
async function retrieveFromAny(
  deps: PaymentLookDependencies,
  document: PaymentDocument,
  serviceToken: string,
): Promise<ServicePayment | 'failed' | undefined> {
  const { environment } = document.payment;
  let hasFailed = false;
  for (const account of deps.accounts.all()) {
    if (account.environment !== environment) continue;
    const outcome = await deps.askAccount({ environment, account: account.name }, (client) =>
      client.retrievePayment(serviceToken),
    );
    logLook(deps, document, 'retrieve', outcome.kind);
    if (outcome.kind === 'accepted') return outcome.answer;
    hasFailed ||= outcome.kind !== 'refused' || !isNotFound(outcome.errors);
  }
  return hasFailed ? 'failed' : undefined;
}

function logLook(
  { log }: PaymentLookDependencies,
  { token, payment }: PaymentDocument,
  operation: string,
  outcome: string,
): void {
  log.debug({ token, account: payment.attempt.account, operation, outcome }, 'looked at the Payment Service');
}
