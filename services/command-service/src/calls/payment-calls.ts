/** The calls that a payment's events announce: what each sends, and how its end is recorded. */
import type { CreatePaymentRequest } from '@tollgate/payment-api';
import {
  type AnnouncedCall as Announcement,
  type PaymentCommand,
  type PaymentEvent,
  attemptsMax,
  callAnnouncedBy,
  isFaultOfAccount,
} from '@tollgate/payment-domain';
import type { PaymentView } from '@tollgate/views';
import { type Clock, InvariantViolation } from '@tollgate/service-kit';
import type { Accounts } from '../accounts/accounts.ts';
import type { Permit } from '../accounts/account.ts';
import {
  fromCreationOutcome,
  fromRefundOutcome,
  fromCaptureOrVoidOutcome,
  toCreateRequest,
} from '../provider-mapping.ts';
import type { Cause } from '../streams/repository.ts';
import { requireDone } from '../streams/repository.ts';
import type { PaymentDone, Payments } from '../streams/payments.ts';
import {
  type AnnouncedCall,
  type AnnouncedCalls,
  type CallSubject,
  announcedCall,
} from './announced-calls.ts';
import { type CallTimes, planAttempt } from './call-times.ts';

/** What a creation needs and nobody keeps: it is in memory from the request to the call, and nowhere else. */
export interface CallSecrets {
  card?: NonNullable<CreatePaymentRequest['card']>;
  serviceRecurringToken?: string;
}

export interface PaymentCallsDependencies {
  payments: Payments;
  accounts: Accounts;
  calls: AnnouncedCalls;
  times: CallTimes;
  callbackUrlOf: (environment: string, token: string) => string;
  clock: Clock;
}

/** Makes the calls that this process's append has announced, and gives the permit back. */
export type CarryOutPaymentCalls = (
  done: PaymentDone,
  permit: Permit,
  cause: Cause,
  secrets?: CallSecrets,
) => Promise<PaymentView>;

type Subject = CallSubject<PaymentView, PaymentEvent, PaymentCommand>;

export function createPaymentCalls(deps: PaymentCallsDependencies): CarryOutPaymentCalls {
  const { payments, calls } = deps;
  return (done, permit, cause, secrets = {}) => {
    const subject: Subject = {
      announcedBy({ view, events }) {
        const announced = callAnnouncedBy(events, view.payment);
        return announced === undefined ? undefined : toCall(deps, view, announced, secrets);
      },
      execute: async (token, command) => requireDone(await payments.execute(token, command, cause)),
      permitAfter: (view) => permitAfter(deps, view),
    };
    return calls.carryOut(subject, done, permit);
  };
}

function toCall(
  deps: PaymentCallsDependencies,
  view: PaymentView,
  announced: Announcement,
  secrets: CallSecrets,
): AnnouncedCall<PaymentCommand> {
  switch (announced.operation) {
    case 'create':
      return toCreationCall(deps, view, announced, secrets);
    case 'confirm':
    case 'decline':
      return toCaptureOrVoidCall(view, announced);
    case 'refund':
      return toRefundCall(view, announced);
  }
}

type AnnouncementOf<Operation> = Extract<Announcement, { operation: Operation }>;

function toCreationCall(
  deps: PaymentCallsDependencies,
  view: PaymentView,
  { window, attemptNumber, account }: AnnouncementOf<'create'>,
  secrets: CallSecrets,
): AnnouncedCall<PaymentCommand> {
  const { token, payment } = view;
  const callbackUrl = deps.callbackUrlOf(payment.environment, token);
  const request = toCreateRequest(payment, callbackUrl, secrets);
  return announcedCall({
    operation: 'create',
    window,
    goesOnLater: payment.terms.kind === 'hosted',
    send: (client) => client.createPayment(request),
    mayBeFollowed: (outcome) =>
      outcome.kind === 'not-sent' || (outcome.kind === 'refused' && isFaultOfAccount(outcome.errors)),
    toCommand(answer, next) {
      const outcome = fromCreationOutcome(answer);
      const command = { type: 'RecordCreationOutcome' as const, attemptNumber, outcome };
      // An account that has refused us once would refuse us again.
      const isOfUse = next !== undefined && (outcome.kind === 'not-sent' || next.account !== account);
      return isOfUse ? { ...command, ...nextAttemptUnder(deps, view, next) } : command;
    },
  });
}

/** The attempt after the payment's current one under a permit; none where there may be no more. */
export function nextAttemptUnder(
  { clock, times }: Pick<PaymentCallsDependencies, 'clock' | 'times'>,
  { token, payment }: PaymentView,
  { account }: Permit,
) {
  const number = payment.attempt.number + 1;
  if (number > attemptsMax) return {};
  return { nextAttempt: planAttempt(token, { number, account, now: clock.now(), times }) };
}

function toCaptureOrVoidCall(
  { payment }: PaymentView,
  { operation, window, submission }: AnnouncementOf<'confirm' | 'decline'>,
): AnnouncedCall<PaymentCommand> {
  const serviceToken = requireServiceToken(payment.serviceToken);
  return announcedCall({
    operation,
    window,
    send: (client) =>
      operation === 'confirm' ? client.confirmPayment(serviceToken) : client.declinePayment(serviceToken),
    toCommand: (answer) => ({
      ...{ type: 'RecordTwoStepOutcome', operation, submission },
      outcome: fromCaptureOrVoidOutcome(answer),
    }),
  });
}

function toRefundCall(
  { payment }: PaymentView,
  { window, refundToken, amount }: AnnouncementOf<'refund'>,
): AnnouncedCall<PaymentCommand> {
  const token = requireServiceToken(payment.serviceToken);
  return announcedCall({
    operation: 'refund',
    window,
    // Always with the amount: what "all that is left" is has been decided, and must not be decided again elsewhere.
    send: (client) => client.refundPayment({ token, amount }),
    toCommand: (answer) => ({ type: 'RecordRefundOutcome', refundToken, outcome: fromRefundOutcome(answer) }),
  });
}

function requireServiceToken(serviceToken: string | undefined): string {
  if (serviceToken === undefined)
    throw new InvariantViolation('the service never gave a token for this payment');
  return serviceToken;
}

/** The account after the current one, in the order in which the payment's accounts are tried. A recurring token belongs to one account. */
async function permitAfter({ accounts }: PaymentCallsDependencies, view: PaymentView) {
  const { environment, team, terms, attempt } = view.payment;
  if (attempt.number >= attemptsMax) return undefined;
  const { currency } = terms;
  const route = accounts.route({ environment, team, currency, token: view.token });
  const following = route[(route.indexOf(attempt.account) + 1) % Math.max(route.length, 1)];
  const name = terms.kind === 'recurring' ? attempt.account : (following ?? attempt.account);
  const result = await accounts.permitOf(environment, name);
  return result.kind === 'permit' ? result.permit : undefined;
}
