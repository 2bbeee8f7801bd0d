/** A team asks for a payment: announced, called, recorded, answered; a repeat meets what the first request did. */
import { maskCardNumber } from '@tollgate/payment-domain/money';
import {
  type PaymentEvent,
  type PaymentRefusal,
  type RequestPayment,
  isPaymentAwaited,
} from '@tollgate/payment-domain';
import { omitUndefined } from '@tollgate/service-kit';
import type { Caller } from '@tollgate/teams';
import type { PaymentAggregate, Payments } from '../aggregates/payments.ts';
import type { RecurringTokens } from '../aggregates/recurring-tokens.ts';
import type { Cause } from '../aggregates/repository.ts';
import type { LimitRefusal, Spending } from '../limits/spending.ts';
import { planAttempt } from '../outbound/call-times.ts';
import type { SendPaymentCalls, SentOnly } from '../outbound/payment-calls.ts';
import type { PaymentRequest } from '@tollgate/gateway-api/http';
import { toTerms } from '../routes/payment-request.ts';
import { type IdempotencyKey, deriveOperationToken } from '../tokens.ts';
import { type OriginRefusal, originRefusal } from './allowed-origin.ts';
import { type Awaited, awaitOutcome } from './await-outcome.ts';
import {
  type OperationDependencies,
  type OperationResult,
  createOnce,
  findRecurringToken,
} from './operation.ts';

export interface CreatePaymentDependencies extends OperationDependencies {
  payments: Payments;
  recurringTokens: RecurringTokens;
  spending: Spending;
  sendPaymentCalls: SendPaymentCalls;
}

export interface CreatePaymentInput {
  caller: Caller;
  key: IdempotencyKey;
  request: PaymentRequest;
  cause: Cause;
}

type CreatePaymentRefusal =
  PaymentRefusal | { code: 'recurring_token_not_found' } | OriginRefusal | LimitRefusal;
export type CreatePaymentResult = OperationResult<PaymentAggregate, CreatePaymentRefusal>;

export function createPayment(
  deps: CreatePaymentDependencies,
  input: CreatePaymentInput,
): Promise<CreatePaymentResult> {
  const { caller, key, request, cause } = input;
  const token = deriveOperationToken('pay', { ...caller, installation: deps.installation }, key);
  return createOnce<PaymentAggregate, PaymentEvent, RequestPayment, CreatePaymentRefusal, Charged>(deps, {
    ...{ repository: deps.payments, caller, currency: request.currency, token, cause, awaited },
    commandFor: (account) => toCommand(deps, input, token, account),
    async prepare() {
      const refused = originRefusal(request, caller);
      if (refused !== undefined) return { refused };
      return (await chargedWith(deps, input)) ?? { refused: { code: 'recurring_token_not_found' } };
    },
    ...reserving(deps, input, token),
    send: async (announced, permit, { sent }) =>
      inquireIfCharged(deps, await deps.sendPaymentCalls(announced, permit, cause, sent), cause),
  });
}

/** A team without a limit reserves nothing: no read and no append more. */
function reserving(
  { spending }: CreatePaymentDependencies,
  { caller, request: { amount, currency }, cause }: CreatePaymentInput,
  token: string,
) {
  const operation = 'payment';
  if (!spending.isLimited(caller, operation, currency)) return {};
  return {
    reserve: async ({ attempt: { quietUntil: lapsesAt } }: RequestPayment) => {
      const wanted = { operation, currency, token, subject: token, amount, lapsesAt } as const;
      const reserved = await spending.reserve(caller, wanted, cause);
      return reserved.kind === 'refused' ? reserved.refusal : undefined;
    },
  };
}

function toCommand(
  { clock, times, fingerprintsOf }: CreatePaymentDependencies,
  { caller: { environment, team }, request }: CreatePaymentInput,
  token: string,
  account: string,
): RequestPayment {
  return {
    ...{ type: 'RequestPayment', environment, team, terms: toTerms(request) },
    ...fingerprintsOf(forFingerprint(request)),
    attempt: planAttempt(token, { number: 1, account, now: clock.now(), times }),
  };
}

/**
 * Over the validated body: what is not part of the terms may not differ unnoticed either. But of a card only what may be
 * kept of one, and nothing of the customer, who may have another address by the time of the repeat: what is forgotten
 * must not be derivable from what stays.
 */
function forFingerprint({ card, customer: _, ...request }: PaymentRequest): object {
  return card === undefined ? request : { ...request, card: { mask: maskCardNumber(card.pan) } };
}

interface Charged {
  /** The only account that can charge it; undefined where any may. */
  accounts: readonly string[] | undefined;
  sent: SentOnly;
}

/** What the payment is charged with; undefined for a recurring token that the team does not have. */
async function chargedWith(
  { recurringTokens }: CreatePaymentDependencies,
  { caller, request: { card, customer, recurringToken: alias } }: CreatePaymentInput,
): Promise<Charged | undefined> {
  if (alias === undefined)
    return { accounts: undefined, sent: omitUndefined({ customer, source: card && { card } }) };
  const found = await findRecurringToken(recurringTokens, caller, alias);
  const source = found && { recurringToken: found.recurringToken };
  return found && { accounts: [found.account], sent: omitUndefined({ customer, source }) };
}

/** A charge without a page may be final already: the caller learns it at once. */
async function inquireIfCharged(
  deps: CreatePaymentDependencies,
  aggregate: PaymentAggregate,
  cause: Cause,
): Promise<PaymentAggregate> {
  const { phase, terms } = aggregate.payment;
  if (terms.kind === 'hosted' || phase !== 'init') return aggregate;
  return (
    (await awaitOutcome(deps, deps.payments, {
      ...{ token: aggregate.token, cause },
      awaited: () => ({ kind: 'inquiry' }),
    })) ?? aggregate
  );
}

function awaited({ payment }: PaymentAggregate): Awaited {
  if (payment.phase === 'requested') return { kind: 'answer', window: payment.attempt };
  // A charge without a page may be final already.
  const isCharge = payment.terms.kind !== 'hosted' && payment.phase === 'init';
  return { kind: isCharge || isPaymentAwaited(payment) ? 'inquiry' : 'nothing' };
}
