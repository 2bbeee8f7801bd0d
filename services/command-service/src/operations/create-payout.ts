/** A team pays out: announced, called once, recorded, answered. It is never sent again. */
import type { PayoutRequest } from '@tollgate/gateway-api/http';
import { maskCardNumber } from '@tollgate/payment-domain/money';
import {
  type AccountState,
  type PayoutDestination,
  type PayoutEvent,
  type PayoutRefusal,
  type RequestPayout,
  isApprovalOver,
  isBeforeAnnouncement,
  isHeldByReview,
  isPayoutAwaited,
  isSameRequest,
} from '@tollgate/payment-domain';
import type { PayOutDestination } from '@tollgate/provider';
import { InvariantViolation, omitUndefined } from '@tollgate/service-kit';
import type { Caller } from '@tollgate/teams';
import { closedForSeconds } from '../accounts/account-gate.ts';
import type { PayoutAggregate, Payouts } from '../aggregates/payouts.ts';
import type { RecurringTokens } from '../aggregates/recurring-tokens.ts';
import type { Cause } from '../aggregates/repository.ts';
import type { LimitRefusal, Spending } from '../limits/spending.ts';
import { type PositionRefusal, exceeds } from '../positions/payout-reservations.ts';
import type { Positions } from '../positions/positions.ts';
import { providerOrderNumber, windowAt } from '../outbound/call-times.ts';
import type { SendPayoutCall } from '../outbound/payout-calls.ts';
import { type IdempotencyKey, deriveOperationToken } from '../tokens.ts';
import { type OriginRefusal, originRefusal } from './allowed-origin.ts';
import { type Awaited, inquireBriefly } from './await-outcome.ts';
import {
  type NotBegun,
  type OperationDependencies,
  type OperationResult,
  createOnce,
  findRecurringToken,
  inProgress,
} from './operation.ts';
import { mustBeApproved, toAsk } from './payout-approval.ts';

export interface CreatePayoutDependencies extends OperationDependencies {
  payouts: Payouts;
  recurringTokens: RecurringTokens;
  positions: Positions;
  spending: Spending;
  sendPayoutCall: SendPayoutCall;
}

export interface CreatePayoutInput {
  caller: Caller;
  key: IdempotencyKey;
  request: PayoutRequest;
  cause: Cause;
}

type CreatePayoutRefusal =
  PayoutRefusal | { code: 'recurring_token_not_found' } | OriginRefusal | PositionRefusal | LimitRefusal;
export type CreatePayoutResult = OperationResult<PayoutAggregate, CreatePayoutRefusal>;

export async function createPayout(
  deps: CreatePayoutDependencies,
  input: CreatePayoutInput,
): Promise<CreatePayoutResult> {
  const { caller, key, request } = input;
  const token = deriveOperationToken('po', { ...caller, installation: deps.installation }, key);
  // One that was approved is sent by its repeat: payouts are few, and each is looked for first.
  const known = await deps.payouts.load(token);
  if (known !== undefined && isBeforeAnnouncement(known.payout)) return repeatBefore(deps, input, known);
  if (known === undefined && mustBeApproved(caller, request)) return askFirst(deps, input, token);
  return createNow(deps, input, token);
}

function createNow(
  deps: CreatePayoutDependencies,
  input: CreatePayoutInput,
  token: string,
): Promise<CreatePayoutResult> {
  const { caller, request, cause } = input;
  return createOnce<PayoutAggregate, PayoutEvent, RequestPayout, CreatePayoutRefusal, PaidTo>(deps, {
    ...{ repository: deps.payouts, caller, currency: request.currency, token, cause, awaited },
    commandFor: (account) => toCommand(deps, input, token, account),
    prepare: () => prepare(deps, input, token),
    reserve: (command, account) => reserveFor(deps, input, token, { command, account }),
    send: (announced, permit, { destination }) => deps.sendPayoutCall(announced, permit, cause, destination),
  });
}

async function prepare(
  deps: CreatePayoutDependencies,
  input: CreatePayoutInput,
  token: string,
): Promise<PaidTo | { refused: CreatePayoutRefusal }> {
  const refused = originRefusal(input.request, input.caller);
  if (refused !== undefined) return { refused };
  const paidTo = await resolveDestination(deps, input);
  if (paidTo === undefined) return { refused: { code: 'recurring_token_not_found' } };
  return chooseAccounts(deps, input, token, paidTo);
}

/** Reserved and recorded, and nothing is announced. It takes no permit: it makes no call. */
async function askFirst(
  deps: CreatePayoutDependencies,
  input: CreatePayoutInput,
  token: string,
): Promise<CreatePayoutResult> {
  const { accounts, payouts } = deps;
  const { caller, cause, request } = input;
  const { environment, team } = caller;
  const prepared = await prepare(deps, input, token);
  if ('refused' in prepared) return { kind: 'refused', refusal: prepared.refused };
  const { currency } = request;
  const names = prepared.accounts ?? accounts.route({ environment, team, currency, token });
  const states = names.map((name) => accounts.stateOf(environment, name));
  const account = names[states.indexOf('active')];
  if (account === undefined) return closedIn(states);
  const command = toCommand(deps, input, token, account);
  const refusal = await reserveFor(deps, input, token, { command, account });
  if (refusal !== undefined) return { kind: 'refused', refusal };
  const executed = await payouts.execute(token, toAsk(command, caller), cause, { isNew: true });
  if (executed.kind === 'moved') return inProgress;
  if (executed.kind === 'refused') return executed;
  return { kind: 'answered', aggregate: executed.aggregate, replayed: executed.events.length === 0 };
}

function closedIn(states: readonly (AccountState | undefined)[]): NotBegun {
  const closed = states.find((state) => state === 'draining' || state === 'paused');
  if (closed === undefined) return { kind: 'no-account' };
  return { kind: 'unavailable', retryAfterSeconds: closedForSeconds, closed };
}

/** A repeat of what is not announced yet: it is sent once it is approved, unless that has lapsed. */
async function repeatBefore(
  deps: CreatePayoutDependencies,
  input: CreatePayoutInput,
  known: PayoutAggregate,
): Promise<CreatePayoutResult> {
  const isOver = isApprovalOver(known.payout, deps.clock.now());
  // Whoever is told that it has lapsed asks for another one: it is looked for first.
  if (isOver) await inquireBriefly(deps, { token: known.token, cause: input.cause });
  // In review it is refused for that, and not for want of money.
  const maySend = known.payout.phase === 'approval_granted' && !isOver && !isHeldByReview(known.payout);
  return maySend ? sendApproved(deps, input, known) : createNow(deps, input, known.token);
}

async function sendApproved(
  deps: CreatePayoutDependencies,
  input: CreatePayoutInput,
  aggregate: PayoutAggregate,
): Promise<CreatePayoutResult> {
  const { caller, cause } = input;
  const { token, payout } = aggregate;
  const { account } = payout.call;
  const paidTo = await resolveDestination(deps, input);
  if (paidTo === undefined) return { kind: 'refused', refusal: { code: 'recurring_token_not_found' } };
  // Nothing has been taken yet: an account that is drained does not take it either.
  const result = await deps.accounts.permitAmong(caller.environment, [account]);
  if (result.kind !== 'permit') return result;
  using permit = result.permit;
  // Made before anything waits, as every announcement.
  const command = toCommand(deps, input, token, account);
  // Other terms are refused below, whatever is left.
  const refusal = isSameRequest(payout, command)
    ? await refusalOfApproved(deps, input, aggregate, command)
    : undefined;
  if (refusal !== undefined) {
    permit.release('unused');
    const isWaiting = (await deps.payouts.load(token))?.payout.phase === 'approval_granted';
    return isWaiting ? { kind: 'refused', refusal } : await createNow(deps, input, token);
  }
  const announced = await deps.payouts.execute(token, command, cause);
  if (announced.kind === 'moved') return inProgress;
  if (announced.kind === 'refused') return announced;
  if (announced.aggregate.payout.phase !== 'requested' || announced.events.length === 0) {
    permit.release('unused');
    return await createNow(deps, input, token);
  }
  const sent = await deps.sendPayoutCall(announced, permit, cause, paidTo.destination);
  return { kind: 'answered', aggregate: sent, replayed: false };
}

/**
 * The payout counts by itself since it was recorded. That may have been too late for what was reserved, and the money may have
 * gone back since: it leaves only if nothing is short with it. Under its limits it counts on the day that it was asked for;
 * where others have used that up, on this one.
 */
async function refusalOfApproved(
  { positions, spending }: CreatePayoutDependencies,
  { caller, cause }: CreatePayoutInput,
  { token, createdAt, payout: { terms } }: PayoutAggregate,
  { call: { account, quietUntil: lapsesAt } }: RequestPayout,
) {
  const { amount, currency } = terms;
  const spent = { token, subject: token, amount, currency, lapsesAt, operation: 'payout' } as const;
  const asked = await spending.reserve(caller, { ...spent, askedAt: createdAt }, cause);
  const counted = asked.kind === 'refused' ? await spending.reserve(caller, spent, cause) : asked;
  if (counted.kind === 'refused') return counted.refusal;
  const covered = await positions.requireCovered(caller, { account, amount, currency }, cause);
  return covered.kind === 'refused' ? covered.refusal : undefined;
}

function toCommand(
  { clock, times, fingerprintsOf }: CreatePayoutDependencies,
  { caller: { environment, team }, request }: CreatePayoutInput,
  token: string,
  account: string,
): RequestPayout {
  const orderNumber = providerOrderNumber(token, 1);
  const requestedAt = clock.now();
  return {
    ...{ type: 'RequestPayout', environment, team, terms: toPayoutTerms(request) },
    ...fingerprintsOf(forFingerprint(request)),
    call: { account, providerOrderNumber: orderNumber, ...windowAt(requestedAt, times) },
    requestedAt,
  };
}

interface PaidTo {
  /** The only accounts that may pay; undefined where any may. */
  accounts: readonly string[] | undefined;
  destination: PayOutDestination;
}

/** The destination as the provider takes it; undefined for a recurring token that the team does not have. */
async function resolveDestination(
  { recurringTokens }: CreatePayoutDependencies,
  { caller, request: { destination } }: CreatePayoutInput,
): Promise<PaidTo | undefined> {
  const { recurringToken: alias } = destination;
  if (alias === undefined) return { accounts: undefined, destination };
  const found = await findRecurringToken(recurringTokens, caller, alias);
  return found && { accounts: [found.account], destination: { recurringToken: found.recurringToken } };
}

/** Of several accounts those in which the team has enough: one alone is asked by the reservation. */
async function chooseAccounts(
  { accounts, positions }: CreatePayoutDependencies,
  { caller, request: { amount, currency } }: CreatePayoutInput,
  token: string,
  paidTo: PaidTo,
): Promise<PaidTo | { refused: PositionRefusal }> {
  const { environment, team } = caller;
  const names = paidTo.accounts ?? accounts.route({ environment, team, currency, token });
  if (names.length < 2) return paidTo;
  const available = await positions.availableTo(token, caller, currency);
  if (available === undefined) return paidTo;
  const able = names.filter((name) => available(name) >= BigInt(amount));
  if (able.length > 0) return { ...paidTo, accounts: able };
  const most = names.map(available).reduce((one, other) => (other > one ? other : one));
  return { refused: exceeds(most, currency) };
}

async function reserveFor(
  { positions, spending }: CreatePayoutDependencies,
  { caller, request: { amount, currency }, cause }: CreatePayoutInput,
  token: string,
  { command, account }: { command: RequestPayout; account: string },
) {
  const { fingerprint, call } = command;
  const wanted = { token, account, amount, currency, fingerprint, lapsesAt: call.quietUntil };
  const spent = { ...wanted, operation: 'payout', subject: token } as const;
  const counted = await spending.reserve(caller, spent, cause);
  if (counted.kind === 'refused') return counted.refusal;
  const reserved = await positions.reserve(caller, wanted, cause);
  if (reserved.kind !== 'refused') return undefined;
  if (reserved.refusal.code === 'payout_exceeds_position') await counted.giveBack();
  return reserved.refusal;
}

/** The terms that are recorded: of the destination only what may be kept. */
function toPayoutTerms({ destination, ...request }: PayoutRequest) {
  const { amount, currency, orderNumber, callbackUrl, metadata } = request;
  const others = omitUndefined({ callbackUrl, metadata });
  return { amount, currency, orderNumber, ...others, destination: toKept(destination) };
}

function toKept({ card, recurringToken, bankAccount }: PayoutRequest['destination']): PayoutDestination {
  if (card !== undefined) return { kind: 'card', sanitizedMask: maskCardNumber(card.pan) };
  if (recurringToken !== undefined) return { kind: 'recurring', recurringToken };
  if (bankAccount === undefined) throw new InvariantViolation('a payout went nowhere');
  const { bankName, account } = bankAccount;
  return { kind: 'bankAccount', bankName, accountEnding: account.slice(-4) };
}

/** Over the validated body, all of it but what may not be kept of a card: another account is another payout. */
function forFingerprint({ destination, ...request }: PayoutRequest): object {
  const { card, ...others } = destination;
  if (card === undefined) return { ...request, destination };
  return { ...request, destination: { ...others, card: { mask: maskCardNumber(card.pan) } } };
}

function awaited({ payout }: PayoutAggregate): Awaited {
  if (payout.phase === 'requested') return { kind: 'answer', window: payout.call };
  return { kind: isPayoutAwaited(payout) ? 'inquiry' : 'nothing' };
}
