/** A team creates a payment: permit, guard, announce, send, record. A repeat returns the result of the first request. */
import type { PaymentRequest } from './requests.ts';
import { type PaymentRefusal, type RequestPayment } from '../domain/payment/payment-commands.ts';
import { type PaymentTerms } from '../domain/payment/payment-events.ts';
import { isPaymentAwaited } from '../domain/payment/payment-state.ts';
import { omitUndefined, maskCardNumber } from '@tollgate/service-kit';
import { walletNameOf, type Requester } from '../domain/requester.ts';
import type { PaymentAggregate } from '../aggregates/payments.ts';
import type { RecurringTokens } from '../aggregates/recurring-tokens.ts';
import type { Cause } from '../aggregates/repository.ts';
import { type PaymentCallsDependencies, type SentOnly, authorize } from '../outbound/payment-calls.ts';
import { planAttempt } from '../outbound/next-attempt.ts';
import { type IdempotencyKey, deriveOperationToken } from '../tokens.ts';
import { type Awaited, awaitOutcome } from './await-outcome.ts';
import { type GuardRefusal, passGuards } from './guard.ts';
import {
  type OperationDependencies,
  type OperationResult,
  type OriginRefusal,
  findRecurringToken,
  inProgress,
  originRefusal,
  refuse,
  replay,
} from './operation.ts';

export interface CreatePaymentDependencies extends OperationDependencies, PaymentCallsDependencies {
  recurringTokens: RecurringTokens;
}

export interface CreatePaymentInput {
  caller: Requester;
  key: IdempotencyKey;
  request: PaymentRequest;
  cause: Cause;
}

type CreatePaymentRefusal =
  PaymentRefusal | { code: 'recurring_token_not_found' } | OriginRefusal | GuardRefusal;
export type CreatePaymentResult = OperationResult<PaymentAggregate, CreatePaymentRefusal>;

export async function createPayment(
  deps: CreatePaymentDependencies,
  input: CreatePaymentInput,
): Promise<CreatePaymentResult> {
  const { payments, accounts, guards, installation } = deps;
  const { caller, request, cause } = input;
  const { environment, team } = caller;
  const { amount, currency } = request;
  const token = deriveOperationToken('pay', { ...caller, installation }, input.key);
  const waiting = { repository: payments, token, cause, awaited };
  // First: later restrictions do not revoke an accepted request.
  if ((await payments.load(token)) !== undefined)
    return replay(deps, await payments.execute(token, toCommand(deps, input, token, ''), cause), waiting);

  const notAllowed = originRefusal(request, caller);
  if (notAllowed !== undefined) return refuse(notAllowed);
  const charge = await chargeOf(deps, input);
  if (charge === undefined) return refuse({ code: 'recurring_token_not_found' });

  const { account: only } = charge;
  const names = only === undefined ? accounts.route({ environment, team, currency, token }) : [only];
  const taken = await accounts.permitAmong(environment, names);
  if (taken.kind !== 'permit') return taken;
  using permit = taken.permit;
  // Before any wait: a command that waits too long is announced, and not sent.
  const command = toCommand(deps, input, token, permit.account);
  const guarded = await passGuards(guards, {
    operation: 'payment',
    caller,
    cause,
    token,
    subject: token,
    amount,
    currency,
    fingerprint: command.fingerprint,
    account: permit.account,
    lapsesAt: command.attempt.quietUntil,
    askedAt: deps.clock.now(),
  });
  if (guarded.kind !== 'passed') return guarded.kind === 'refused' ? guarded : inProgress;

  const announced = await payments.execute(token, command, cause, { isNew: true });
  if (announced.kind !== 'done') return announced.kind === 'refused' ? announced : inProgress;
  if (announced.events.length === 0) {
    // Another request was faster. Waiting for its call holds no permit.
    permit.release('unused');
    return await replay(deps, announced, waiting);
  }
  const aggregate = await authorize(deps, announced, permit, { cause, sent: charge.sent });
  return { kind: 'answered', aggregate: await inquireIfCharged(deps, aggregate, cause), replayed: false };
}

function toCommand(
  { clock, times, fingerprintsOf }: CreatePaymentDependencies,
  { caller, request }: CreatePaymentInput,
  token: string,
  account: string,
): RequestPayment {
  const { environment, team, keyId: askedBy } = caller;
  return {
    type: 'RequestPayment',
    environment,
    team,
    wallet: walletNameOf(caller),
    askedBy,
    terms: toTerms(request),
    ...fingerprintsOf(forFingerprint(request)),
    attempt: planAttempt(token, { number: 1, account, now: clock.now(), times }),
  };
}

/** The recorded terms: no card data, and no customer data. */
export function toTerms(request: PaymentRequest): PaymentTerms {
  const { product, amount, currency, orderNumber, callbackUrl, redirectSuccessUrl, redirectFailUrl } =
    request;
  const { locale, needConfirmation, recurring, recurringToken, metadata } = request;
  const addresses = { callbackUrl, redirectSuccessUrl, redirectFailUrl };
  return {
    kind: kindOf(request),
    product,
    amount,
    currency,
    orderNumber,
    ...addresses,
    locale,
    recurringToken,
    ...(recurring === true ? { recurring } : {}),
    ...(metadata === undefined ? {} : { metadata }),
    needConfirmation: needConfirmation ?? false,
  };
}

function kindOf({ card, recurringToken }: PaymentRequest): PaymentTerms['kind'] {
  if (card !== undefined) return 'card';
  return recurringToken === undefined ? 'hosted' : 'recurring';
}

/**
 * Covers the validated body, because fields outside the terms must not differ unnoticed either. Of a card only the storable
 * part, and no customer data: the customer's address may change before the repeat, and erased data must not be derivable
 * from the rest.
 */
function forFingerprint({ card, customer: _, ...request }: PaymentRequest): object {
  return card === undefined ? request : { ...request, card: { mask: maskCardNumber(card.pan) } };
}

interface Charge {
  /** The only account that can charge it; undefined if any may. */
  account: string | undefined;
  sent: SentOnly;
}

/** The means of payment; undefined for a recurring token that the team does not have. */
async function chargeOf(
  { recurringTokens }: CreatePaymentDependencies,
  { caller, request: { card, customer, recurringToken: alias } }: CreatePaymentInput,
): Promise<Charge | undefined> {
  if (alias === undefined)
    return { account: undefined, sent: omitUndefined({ customer, source: card && { card } }) };
  const found = await findRecurringToken(recurringTokens, caller, alias);
  const source = found && { recurringToken: found.recurringToken };
  return found && { account: found.account, sent: omitUndefined({ customer, source }) };
}

/** A charge without a page may be final already: the caller learns it at once. */
async function inquireIfCharged(
  deps: CreatePaymentDependencies,
  aggregate: PaymentAggregate,
  cause: Cause,
): Promise<PaymentAggregate> {
  if (!isCharge(aggregate)) return aggregate;
  const { token } = aggregate;
  const asked = { repository: deps.payments, token, cause, awaited: () => ({ kind: 'inquiry' }) as const };
  return (await awaitOutcome(deps, asked)) ?? aggregate;
}

const isCharge = ({ payment: { phase, terms } }: PaymentAggregate): boolean =>
  terms.kind !== 'hosted' && phase === 'init';

function awaited(aggregate: PaymentAggregate): Awaited {
  const { payment } = aggregate;
  if (payment.phase === 'requested') return { kind: 'answer', window: payment.attempt };
  return { kind: isCharge(aggregate) || isPaymentAwaited(payment) ? 'inquiry' : 'nothing' };
}
