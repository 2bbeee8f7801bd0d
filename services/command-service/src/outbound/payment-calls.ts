/** The calls that a payment's events announce: what each sends, and how its outcome is recorded. */
import {
  type AcceptedRefund,
  type AnnouncedCall,
  type Authorization,
  type ObservedPayment,
  withTermsOf,
  type PaymentEvent,
  type PaymentObservation,
  callAnnouncedBy,
  callRules,
  isPaymentAwaited,
  showsNoFurtherRefund,
} from '@tollgate/payment-domain';
import type { AuthorizeRequest } from '@tollgate/provider';
import { type Clock, InvariantViolation, omitUndefined } from '@tollgate/service-kit';
import type { Permit } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { Customers } from '../aggregates/customers.ts';
import type { PaymentAggregate, PaymentDone, Payments } from '../aggregates/payments.ts';
import { type Cause, requireDone } from '../aggregates/repository.ts';
import { type AskAccount, answersThat } from '../inquiries/ask-account.ts';
import { type CallTimes, planAttempt } from './call-times.ts';
import type { Announcer, OutboundCall, Sender } from './send.ts';

/** What is sent and not recorded: what is charged, and who pays. In memory from the request to the call. */
export type SentOnly = Pick<AuthorizeRequest, 'source' | 'customer'>;

export interface PaymentCallsDependencies {
  payments: Payments;
  customers: Pick<Customers, 'keep' | 'release'>;
  accounts: Accounts;
  askAccount: AskAccount;
  sender: Sender;
  times: CallTimes;
  callbackUrlOf: (environment: string, token: string, issuedAt: number) => string;
  clock: Clock;
}

/** Makes the calls that this process's append has announced, and gives the permit back. */
export type SendPaymentCalls = (
  done: PaymentDone,
  permit: Permit,
  cause: Cause,
  sent?: SentOnly,
) => Promise<PaymentAggregate>;

export function createPaymentCalls(deps: PaymentCallsDependencies): SendPaymentCalls {
  const { sender } = deps;
  return (done, permit, cause, sent = {}) => {
    const announcer: Announcer<PaymentAggregate, PaymentEvent, PaymentObservation> = {
      callAnnouncedBy({ aggregate, events }) {
        const announced = callAnnouncedBy(events, aggregate.payment);
        return announced && toCall(deps, aggregate, announced, { ...sent, cause });
      },
      record: (token, observation) => recordKeeping(deps, { token, observation, cause, ...sent }),
      permitAfter: (aggregate) => permitAfter(deps, aggregate),
    };
    return sender.send(announcer, done, permit);
  };
}

interface Recorded extends SentOnly {
  token: string;
  observation: PaymentObservation;
  cause: Cause;
}

/** Records it; and keeps what of a lost creation somebody else may have to send again. */
async function recordKeeping(
  { payments, customers }: PaymentCallsDependencies,
  { token, observation, cause, source, customer }: Recorded,
): Promise<PaymentDone> {
  const record = async () => requireDone(await payments.execute(token, observation, cause));
  const isLost = observation.type === 'RecordAuthorizationOutcome' && observation.outcome.kind === 'unknown';
  // With a card or an alias, nobody attempts it again.
  if (!isLost || customer === undefined || source !== undefined) return record();
  // First, so that an inquiry that finds no payment has it for a further attempt.
  await customers.keep(token, customer, cause);
  const recorded = await record();
  // An inquiry was faster.
  if (!isPaymentAwaited(recorded.aggregate.payment)) await customers.release(token);
  return recorded;
}

type PaymentCall<Answer = object> = OutboundCall<PaymentObservation, Answer>;
interface Sending extends SentOnly {
  cause: Cause;
}
type Announced<Operation> = Extract<AnnouncedCall, { operation: Operation }>;

function toCall(
  deps: PaymentCallsDependencies,
  aggregate: PaymentAggregate,
  announced: AnnouncedCall,
  sending: Sending,
): PaymentCall {
  switch (announced.operation) {
    case 'authorize':
      return authorization(deps, aggregate, announced, sending);
    case 'capture':
    case 'void':
      return captureOrVoid(aggregate, announced);
    case 'refund':
      return refund(deps, aggregate, announced, sending);
  }
}

function authorization(
  deps: PaymentCallsDependencies,
  aggregate: PaymentAggregate,
  { operation, window, attemptNumber, account }: Announced<'authorize'>,
  { cause, ...sent }: Sending,
): PaymentCall<Authorization> {
  const request = toRequest(deps, aggregate, sent);
  const { environment, terms } = aggregate.payment;
  const { orderNumber } = request;
  return {
    operation,
    window,
    send: (provider, maySend) => provider.authorize(request, maySend),
    hasNoEffect: async () =>
      answersThat(
        await deps.askAccount({ environment, account }, cause, (provider) =>
          provider.listPayments({ orderNumber }),
        ),
        (found) => found.length === 0,
      ),
    record(outcome, next) {
      // An account that has refused us once would refuse us again.
      const isOfUse = next !== undefined && (outcome.kind === 'not-sent' || next.account !== account);
      const nextAttempt = isOfUse ? attemptAfter(deps, aggregate, next) : {};
      return { type: 'RecordAuthorizationOutcome', attemptNumber, outcome, ...nextAttempt };
    },
    mayBeFollowed: (outcome) =>
      attemptNumber < callRules.authorize.attemptsMax &&
      (outcome.kind === 'not-sent' || (outcome.kind === 'refused' && outcome.isAccountRefused === true)),
    isPage: terms.kind === 'hosted',
  };
}

/** The request of the payment's current attempt. The team's order number and callback address stay with us. */
function toRequest(
  { callbackUrlOf }: PaymentCallsDependencies,
  { token, payment: { environment, terms, attempt } }: PaymentAggregate,
  { source, customer }: SentOnly,
): AuthorizeRequest {
  const { product, amount, currency, redirectSuccessUrl, redirectFailUrl, locale } = terms;
  const kind = source === undefined ? 'hosted' : 'card' in source ? 'card' : 'recurring';
  // Without what is charged, the call would ask for something else: a page.
  if (kind !== terms.kind) throw new InvariantViolation('a call is without what it is to charge');
  return {
    ...{ product, amount, currency, orderNumber: attempt.providerOrderNumber },
    callbackUrl: callbackUrlOf(environment, token, attempt.sendBy),
    isCaptureDeferred: terms.needConfirmation,
    isRecurring: terms.recurring === true,
    ...omitUndefined({ redirectSuccessUrl, redirectFailUrl, locale, customer, source }),
  };
}

/** The attempt after the payment's current one, under a permit; none where there may be no more. */
export function attemptAfter(
  { clock, times }: Pick<PaymentCallsDependencies, 'clock' | 'times'>,
  { token, payment }: PaymentAggregate,
  { account }: Permit,
) {
  const number = payment.attempt.number + 1;
  if (number > callRules.authorize.attemptsMax) return {};
  return { nextAttempt: planAttempt(token, { number, account, now: clock.now(), times }) };
}

/**
 * The account after the current one that takes something new, in the order in which the payment's accounts are tried; the
 * current one where there is no other. A recurring token belongs to one account.
 */
async function permitAfter({ accounts }: PaymentCallsDependencies, { token, payment }: PaymentAggregate) {
  const { environment, team, terms, attempt } = payment;
  if (attempt.number >= callRules.authorize.attemptsMax) return undefined;
  const route = accounts.route({ environment, team, currency: terms.currency, token });
  const next = route.indexOf(attempt.account) + 1;
  const following = [...route.slice(next), ...route.slice(0, next)].find(
    (name) => accounts.stateOf(environment, name) === 'active',
  );
  const name = terms.kind === 'recurring' ? attempt.account : (following ?? attempt.account);
  // Another account has not taken the payment yet.
  const result = await (name === attempt.account
    ? accounts.permitOf(environment, name)
    : accounts.permitAmong(environment, [name]));
  return result.kind === 'permit' ? result.permit : undefined;
}

const once = { mayBeFollowed: () => false, isPage: false };

function captureOrVoid(
  { payment }: PaymentAggregate,
  { operation, window, submission }: Announced<'capture' | 'void'>,
): PaymentCall<{ observed?: ObservedPayment }> {
  const serviceToken = requireServiceToken(payment.serviceToken);
  return {
    ...once,
    operation,
    window,
    send: async (provider, maySend) => {
      const outcome = await provider[operation](serviceToken, maySend);
      if (outcome.kind !== 'accepted') return outcome;
      const { observed } = outcome;
      return { kind: 'accepted', ...omitUndefined({ observed: observed && withTermsOf(payment, observed) }) };
    },
    record: (outcome) => ({ type: 'RecordCaptureOrVoidOutcome', operation, submission, outcome }),
  };
}

function refund(
  { askAccount }: PaymentCallsDependencies,
  { payment }: PaymentAggregate,
  { operation, window, refundToken, amount }: Announced<'refund'>,
  { cause }: Sending,
): PaymentCall<AcceptedRefund> {
  const serviceToken = requireServiceToken(payment.serviceToken);
  const { environment, attempt } = payment;
  return {
    ...once,
    operation,
    window,
    // Always with the amount: what "all that is left" is has been decided, and must not be decided again elsewhere.
    send: (provider, maySend) => provider.refund({ serviceToken, amount }, maySend),
    hasNoEffect: async () =>
      answersThat(
        await askAccount({ environment, account: attempt.account }, cause, (provider) =>
          provider.inquirePayment(serviceToken),
        ),
        ({ observed }) => showsNoFurtherRefund(payment, withTermsOf(payment, observed)),
      ),
    record: (outcome) => ({ type: 'RecordRefundOutcome', refundToken, outcome }),
  };
}

function requireServiceToken(serviceToken: string | undefined): string {
  if (serviceToken === undefined)
    throw new InvariantViolation('the provider never gave a token for this payment');
  return serviceToken;
}
