/** The calls of a payment that both its request and an inquiry make: its creation, and its capture or void. */
import { type AnnouncedCall, callAnnouncedBy } from '../domain/payment/announced-call.ts';
import { type AuthorizationOutcome, type ObservedPayment } from '../domain/payment/payment-commands.ts';
import { withTermsOf } from '../domain/payment/observation.ts';
import type { AuthorizeRequest } from '../provider.ts';
import { InvariantViolation, omitUndefined } from '@tollgate/service-kit';
import type { Permit } from '../accounts.ts';
import type { PaymentAggregate, PaymentDone, Payments } from '../aggregates/payments.ts';
import { type Cause, requireDone } from '../aggregates/repository.ts';
import { type AskAccount, answersThat } from './ask-account.ts';
import {
  type NextAttemptDependencies,
  answerWithinMs,
  attemptAfter,
  mayBeFollowed,
  permitAfter,
  unfollowed,
} from './next-attempt.ts';
import { type Sender, afterAnswerBy, pauseBeforeRepeat } from './send-once.ts';

export interface PaymentCallsDependencies extends NextAttemptDependencies {
  payments: Payments;
  askAccount: AskAccount;
  sender: Sender;
  callbackUrlOf: (environment: string, token: string, issuedAt: number) => string;
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
  const recorded = await record(deps, aggregate, ended, { cause: authorizing.cause, following });
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

/** Records the outcome, and announces the next attempt under the permit that follows. */
async function record(
  deps: PaymentCallsDependencies,
  aggregate: PaymentAggregate,
  outcome: AuthorizationOutcome,
  { cause, following }: { cause: Cause; following: Permit | undefined },
): Promise<PaymentDone> {
  const { token, payment } = aggregate;
  const next = following === undefined ? {} : attemptAfter(deps, aggregate, following);
  const observation = {
    type: 'RecordAuthorizationOutcome',
    attemptNumber: payment.attempt.number,
    outcome,
    ...next,
  } as const;
  return requireDone(await deps.payments.execute(token, observation, cause));
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
