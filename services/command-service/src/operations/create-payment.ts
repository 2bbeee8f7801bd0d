/** A team's wish for a payment: announced, called, recorded, answered; a repeat meets what the first one did. */
import type { PaymentRefusal } from '@tollgate/payment-domain';
import type { Caller } from '@tollgate/teams';
import type { PaymentView } from '@tollgate/views';
import { InvariantViolation } from '@tollgate/service-kit';
import type { Permit, PermitResult } from '../accounts/account.ts';
import { planAttempt } from '../calls/call-times.ts';
import type { CallSecrets, CarryOutPaymentCalls } from '../calls/payment-calls.ts';
import type { PaymentRequest } from '../routes/payment-request.ts';
import { toTerms } from '../routes/payment-request.ts';
import type { Payments } from '../streams/payments.ts';
import type { RecurringTokens } from '../streams/recurring-tokens.ts';
import type { Cause } from '../streams/repository.ts';
import { type IdempotencyKey, deriveOperationToken, fingerprintOf } from '../tokens.ts';
import { type Awaited, awaitOutcome } from './await-outcome.ts';
import { type OriginRefusal, originRefusal } from './allowed-origin.ts';
import { keptDigits } from './card-digits.ts';
import { type OperationDependencies, type OperationResult, inProgress, isPermit } from './operation.ts';

export interface CreatePaymentDependencies extends OperationDependencies {
  payments: Payments;
  recurringTokens: RecurringTokens;
  carryOut: CarryOutPaymentCalls;
}

export interface CreatePaymentInput {
  caller: Caller;
  key: IdempotencyKey;
  request: PaymentRequest;
  cause: Cause;
}

export type CreatePaymentResult = OperationResult<
  PaymentView,
  PaymentRefusal | { code: 'recurring_token_not_found' } | OriginRefusal
>;

export async function createPayment(
  deps: CreatePaymentDependencies,
  input: CreatePaymentInput,
): Promise<CreatePaymentResult> {
  const token = deriveOperationToken('pay', input.caller, input.key);
  // A repeat needs no permit: it calls nobody.
  if ((await deps.payments.load(token)) !== undefined) return announce(deps, input, token, undefined);
  // What is allowed now does not take back what was accepted: a repeat is not checked.
  const refusal = originRefusal(input.request, input.caller);
  if (refusal !== undefined) return { kind: 'refused', refusal };
  const charged = await chargedWith(deps, input);
  if (charged === undefined) return { kind: 'refused', refusal: { code: 'recurring_token_not_found' } };
  const result = await permitFor(deps, input, token, charged.account);
  if (!isPermit(result)) return result;
  return announce(deps, input, token, { permit: result.permit, secrets: charged.secrets });
}

function permitFor(
  { accounts }: CreatePaymentDependencies,
  { caller, request }: CreatePaymentInput,
  token: string,
  account: string | undefined,
): Promise<PermitResult> {
  const { environment, team } = caller;
  if (account !== undefined) return accounts.permitOf(environment, account);
  return accounts.permitForCreation({ environment, team, currency: request.currency, token });
}

/** Announces the creation, and carries it out where this append announced it; else it is a repeat. */
async function announce(
  deps: CreatePaymentDependencies,
  { caller, request, cause }: CreatePaymentInput,
  token: string,
  first: { permit: Permit; secrets: CallSecrets } | undefined,
): Promise<CreatePaymentResult> {
  let isPermitUsed = false;
  try {
    const { environment, team } = caller;
    const account = first?.permit.account ?? '';
    const attempt = planAttempt(token, { number: 1, account, now: deps.clock.now(), times: deps.times });
    const terms = toTerms(request);
    const fingerprint = fingerprintOf(forFingerprint(request));
    const command = { type: 'RequestPayment' as const, environment, team, terms, fingerprint, attempt };
    const executed = await deps.payments.execute(token, command, cause);
    if (executed.kind === 'moved') return inProgress;
    if (executed.kind === 'refused') return executed;
    if (executed.events.length === 0) {
      // Who waits for the call of another holds no permit.
      first?.permit.release('unused');
      return await repeat(deps, token, cause);
    }
    if (first === undefined) throw new InvariantViolation('a payment was announced that was there before');
    isPermitUsed = true;
    const view = await deps.carryOut(executed, first.permit, cause, first.secrets);
    return { kind: 'answered', view: await inquireWhereDecided(deps, view, cause), replayed: false };
  } finally {
    if (!isPermitUsed) first?.permit.release('unused');
  }
}

/**
 * Over the validated body, all of it: what is not part of the terms may not differ unnoticed either. Of a card only what
 * may be kept of one.
 */
function forFingerprint({ card, ...request }: PaymentRequest): unknown {
  if (card === undefined) return request;
  const { pan, expires, holder } = card;
  return { ...request, card: { digits: keptDigits(pan), expires, holder } };
}

interface Charged {
  /** The only account that can charge it; undefined where any may. */
  account: string | undefined;
  secrets: CallSecrets;
}

/** What the payment is charged with; undefined for a recurring token that the team does not have. */
async function chargedWith(
  { recurringTokens }: CreatePaymentDependencies,
  { caller, request }: CreatePaymentInput,
): Promise<Charged | undefined> {
  const { card, recurringToken: alias } = request;
  if (alias === undefined) return { account: undefined, secrets: card === undefined ? {} : { card } };
  const recurring = await recurringTokens.find(alias);
  if (recurring?.team !== caller.team || recurring.environment !== caller.environment) return undefined;
  const { account, serviceRecurringToken } = recurring;
  return { account, secrets: { serviceRecurringToken } };
}

/** A charge without a page may have ended already: the caller hears so at once. */
async function inquireWhereDecided(
  deps: CreatePaymentDependencies,
  view: PaymentView,
  cause: Cause,
): Promise<PaymentView> {
  const { phase, terms } = view.payment;
  if (terms.kind === 'hosted' || phase !== 'init') return view;
  return (await awaitPayment(deps, view.token, cause, () => ({ kind: 'look' }))) ?? view;
}

// The announcement stands already: whoever appended it makes the call, we wait for what becomes of it.
async function repeat(
  deps: CreatePaymentDependencies,
  token: string,
  cause: Cause,
): Promise<CreatePaymentResult> {
  const view = await awaitPayment(deps, token, cause, ({ payment: { phase, attempt } }) => {
    if (phase === 'requested') return { kind: 'answer', answerBy: attempt.answerBy };
    return phase === 'unresolved' ? { kind: 'look' } : { kind: 'nothing' };
  });
  return view === undefined ? inProgress : { kind: 'answered', view, replayed: true };
}

const awaitPayment = (
  { payments, calls, inquire, clock }: CreatePaymentDependencies,
  token: string,
  cause: Cause,
  awaited: (view: PaymentView) => Awaited,
) => awaitOutcome({ load: payments.load, settled: calls.settled, inquire, clock }, { token, cause, awaited });
