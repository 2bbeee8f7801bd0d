/** A team's wish to pay out: announced, called once, recorded, answered. It is never sent again by itself. */
import type { PayoutRequest } from '@tollgate/payment-api';
import type { PayoutDestination, PayoutRefusal } from '@tollgate/payment-domain';
import type { Caller } from '@tollgate/teams';
import type { PayoutView } from '@tollgate/views';
import { InvariantViolation, given } from '@tollgate/service-kit';
import type { Permit, PermitResult } from '../accounts/account.ts';
import { providerOrderNumber, windowAt } from '../calls/call-times.ts';
import type { CarryOutPayoutCalls, PayoutDestinationSecrets } from '../calls/payout-calls.ts';
import type { Payouts } from '../streams/payouts.ts';
import type { RecurringTokens } from '../streams/recurring-tokens.ts';
import type { Cause } from '../streams/repository.ts';
import { type IdempotencyKey, deriveOperationToken, fingerprintOf } from '../tokens.ts';
import { type Awaited, awaitOutcome } from './await-outcome.ts';
import { type OriginRefusal, originRefusal } from './allowed-origin.ts';
import { keptDigits, maskOf } from './card-digits.ts';
import { type OperationDependencies, type OperationResult, inProgress, isPermit } from './operation.ts';

export interface CreatePayoutDependencies extends OperationDependencies {
  payouts: Payouts;
  recurringTokens: RecurringTokens;
  carryOutPayout: CarryOutPayoutCalls;
}

export interface CreatePayoutInput {
  caller: Caller;
  key: IdempotencyKey;
  request: PayoutRequest;
  cause: Cause;
}

export type CreatePayoutResult = OperationResult<
  PayoutView,
  PayoutRefusal | { code: 'recurring_token_not_found' } | OriginRefusal
>;

export async function createPayout(
  deps: CreatePayoutDependencies,
  input: CreatePayoutInput,
): Promise<CreatePayoutResult> {
  const token = deriveOperationToken('po', input.caller, input.key);
  // A repeat needs no permit: it calls nobody.
  if ((await deps.payouts.load(token)) !== undefined) return announce(deps, input, token, undefined);
  // What is allowed now does not take back what was accepted: a repeat is not checked.
  const refusal = originRefusal(input.request, input.caller);
  if (refusal !== undefined) return { kind: 'refused', refusal };
  const paidTo = await resolveDestination(deps, input);
  if (paidTo === undefined) return { kind: 'refused', refusal: { code: 'recurring_token_not_found' } };
  const result = await permitFor(deps, input, token, paidTo.account);
  if (!isPermit(result)) return result;
  return announce(deps, input, token, { permit: result.permit, destination: paidTo.destination });
}

interface PaidTo {
  /** The only account that knows the destination; undefined where any does. */
  account: string | undefined;
  destination: PayoutDestinationSecrets;
}

/** The destination as the service takes it; undefined for a recurring token that the team does not have. */
async function resolveDestination(
  { recurringTokens }: CreatePayoutDependencies,
  { caller, request: { destination } }: CreatePayoutInput,
): Promise<PaidTo | undefined> {
  const { recurringToken: alias } = destination;
  if (alias === undefined) return { account: undefined, destination };
  const recurring = await recurringTokens.find(alias);
  if (recurring?.team !== caller.team || recurring.environment !== caller.environment) return undefined;
  const { account, serviceRecurringToken } = recurring;
  return { account, destination: { recurringToken: serviceRecurringToken } };
}

function permitFor(
  { accounts }: CreatePayoutDependencies,
  { caller, request }: CreatePayoutInput,
  token: string,
  account: string | undefined,
): Promise<PermitResult> {
  const { environment, team } = caller;
  if (account !== undefined) return accounts.permitOf(environment, account);
  return accounts.permitForCreation({ environment, team, currency: request.currency, token });
}

/** Announces the payout, and sends it where this append announced it; else it is a repeat. */
async function announce(
  deps: CreatePayoutDependencies,
  { caller, request, cause }: CreatePayoutInput,
  token: string,
  first: { permit: Permit; destination: PayoutDestinationSecrets } | undefined,
): Promise<CreatePayoutResult> {
  let isPermitUsed = false;
  try {
    const { environment, team } = caller;
    const executed = await deps.payouts.execute(
      token,
      {
        ...{ type: 'RequestPayout', environment, team, terms: toPayoutTerms(request) },
        fingerprint: fingerprintOf(forFingerprint(request)),
        call: {
          account: first?.permit.account ?? '',
          providerOrderNumber: providerOrderNumber(token, 1),
          ...windowAt(deps.clock.now(), deps.times),
        },
      },
      cause,
    );
    if (executed.kind === 'moved') return inProgress;
    if (executed.kind === 'refused') return executed;
    if (executed.events.length === 0) {
      // Who waits for the call of another holds no permit.
      first?.permit.release('unused');
      return await repeat(deps, token, cause);
    }
    if (first === undefined) throw new InvariantViolation('a payout was announced that was there before');
    isPermitUsed = true;
    const view = await deps.carryOutPayout(executed, first.permit, cause, first.destination);
    return { kind: 'answered', view, replayed: false };
  } finally {
    if (!isPermitUsed) first?.permit.release('unused');
  }
}

// The announcement stands already: whoever appended it makes the call, we wait for what becomes of it.
async function repeat(
  { payouts, calls, inquire, clock }: CreatePayoutDependencies,
  token: string,
  cause: Cause,
): Promise<CreatePayoutResult> {
  const awaited = ({ payout: { phase, call } }: PayoutView): Awaited => {
    if (phase === 'requested') return { kind: 'answer', answerBy: call.answerBy };
    return phase === 'unresolved' ? { kind: 'look' } : { kind: 'nothing' };
  };
  const waiting = { load: payouts.load, settled: calls.settled, inquire, clock };
  const view = await awaitOutcome(waiting, { token, cause, awaited });
  return view === undefined ? inProgress : { kind: 'answered', view, replayed: true };
}

/** The terms that are recorded: of the destination only what may be kept. */
function toPayoutTerms({ amount, currency, orderNumber, callbackUrl, destination }: PayoutRequest) {
  return { amount, currency, orderNumber, ...given({ callbackUrl }), destination: toKept(destination) };
}

function toKept({ card, recurringToken, bankAccount }: PayoutRequest['destination']): PayoutDestination {
  if (card !== undefined) return { kind: 'card', sanitizedMask: maskOf(card.pan) };
  if (recurringToken !== undefined) return { kind: 'recurring', recurringToken };
  if (bankAccount === undefined) throw new InvariantViolation('a payout went nowhere');
  const { bankName, account } = bankAccount;
  return { kind: 'bankAccount', bankName, accountEnding: account.slice(-4) };
}

/** Over the validated body, all of it but what may not be kept of a card: another account is another payout. */
function forFingerprint({ destination, ...request }: PayoutRequest): unknown {
  const { card, ...others } = destination;
  if (card === undefined) return { ...request, destination };
  const kept = { digits: keptDigits(card.pan), expires: card.expires };
  return { ...request, destination: { ...others, card: kept } };
}
