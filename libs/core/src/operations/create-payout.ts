/** A team pays out: permit, guard, announce, send, record. A payout is sent once, and never again. */
import type { PayoutRequest } from './requests.ts';
import {
  type ObservedPayout,
  type PayoutRefusal,
  type RequestPayout,
} from '../domain/payout/payout-commands.ts';
import { type PayoutDestination } from '../domain/payout/payout-events.ts';
import { isApprovalOver, isPayoutAwaited, payoutCallAnnouncedBy } from '../domain/payout/payout-state.ts';
import { isSameRequest } from '../domain/request-fingerprint.ts';
import type { PayOutDestination } from '../provider.ts';
import { InvariantViolation, omitUndefined, maskCardNumber } from '@tollgate/service-kit';
import { walletNameOf, type Requester } from '../domain/requester.ts';
import { windowAt } from '../domain/outbound-call/outbound-call.ts';
import type { Permit } from '../accounts.ts';
import type { PayoutAggregate, PayoutDone, Payouts } from '../aggregates/payouts.ts';
import type { RecurringTokens } from '../aggregates/recurring-tokens.ts';
import { type Cause, requireDone } from '../aggregates/repository.ts';
import { answersThat } from '../outbound/ask-account.ts';
import { type IdempotencyKey, deriveOperationToken, providerOrderNumber } from '../tokens.ts';
import { type Awaited, inquireBriefly, required } from './await-outcome.ts';
import { type GuardRefusal, guardedAccounts, passGuards } from './guard.ts';
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

export interface CreatePayoutDependencies extends OperationDependencies {
  payouts: Payouts;
  recurringTokens: RecurringTokens;
  callbackUrlOf: (environment: string, token: string, issuedAt: number) => string;
}

export interface CreatePayoutInput {
  caller: Requester;
  key: IdempotencyKey;
  request: PayoutRequest;
  cause: Cause;
}

type CreatePayoutRefusal =
  PayoutRefusal | { code: 'recurring_token_not_found' } | OriginRefusal | GuardRefusal;
export type CreatePayoutResult = OperationResult<PayoutAggregate, CreatePayoutRefusal>;

export async function createPayout(
  deps: CreatePayoutDependencies,
  input: CreatePayoutInput,
): Promise<CreatePayoutResult> {
  const { payouts, accounts, guards, installation } = deps;
  const { caller, request, cause } = input;
  const { environment, team } = caller;
  const { amount, currency } = request;
  const token = deriveOperationToken('po', { ...caller, installation }, input.key);
  const waiting = { repository: payouts, token, cause, awaited };
  const repeat = async () =>
    replay(deps, await payouts.execute(token, toCommand(deps, input, token, ''), cause), waiting);
  // First: later restrictions do not revoke an accepted request. An approved payout is sent by its repeat.
  const known = await payouts.load(token);
  if (known !== undefined && !(await isToBeSent(deps, input, known))) return repeat();

  const notAllowed = known === undefined ? originRefusal(request, caller) : undefined;
  if (notAllowed !== undefined) return refuse(notAllowed);
  const paidTo = await resolveDestination(deps, input);
  if (paidTo === undefined) return refuse({ code: 'recurring_token_not_found' });

  const { account: only } = known === undefined ? paidTo : known.payout.call;
  const route = only === undefined ? accounts.route({ environment, team, currency, token }) : [only];
  const wanted = { operation: 'payout', caller, token, amount, currency } as const;
  const names = await guardedAccounts(guards, { ...wanted, accounts: route });
  if ('kind' in names) return names;
  const taken = await accounts.permitAmong(environment, names);
  if (taken.kind !== 'permit') return taken;
  using permit = taken.permit;
  // Before any wait: a command that waits too long is announced, and not sent.
  const command = toCommand(deps, input, token, permit.account);
  const guarded = await passGuards(guards, {
    ...wanted,
    cause,
    subject: token,
    fingerprint: command.fingerprint,
    account: permit.account,
    lapsesAt: command.call.quietUntil,
    askedAt: command.requestedAt,
    recordedIn: known?.payout.wallet,
    payout: command,
  });
  if (guarded.kind === 'refused') {
    permit.release('unused');
    // Another request under the same key may have been faster, and used up the balance.
    const isUnchanged = (await payouts.load(token))?.revision === known?.revision;
    return isUnchanged ? guarded : await repeat();
  }
  if (guarded.kind === 'waiting')
    return { kind: 'answered', aggregate: await required(payouts, token), replayed: !guarded.isNew };

  const announced = await payouts.execute(token, command, cause, { isNew: known === undefined });
  if (announced.kind !== 'done') return announced.kind === 'refused' ? announced : inProgress;
  if (announced.events.length === 0) {
    // Another request was faster. Waiting for its call holds no permit.
    permit.release('unused');
    return await replay(deps, announced, waiting);
  }
  const sending = sendPayout(deps, announced, permit, { destination: paidTo.destination, cause });
  return { kind: 'answered', aggregate: await deps.sender.track(token, sending), replayed: false };
}

/** True for a repeat of an approved payout with the same terms, unless the approval has lapsed. */
async function isToBeSent(
  deps: CreatePayoutDependencies,
  input: CreatePayoutInput,
  { token, payout }: PayoutAggregate,
): Promise<boolean> {
  const isOver = isApprovalOver(payout, deps.clock.now());
  // An inquiry records that it has lapsed.
  if (isOver) await inquireBriefly(deps, { token, cause: input.cause });
  return (
    payout.phase === 'approval_granted' && !isOver && isSameRequest(payout, toCommand(deps, input, token, ''))
  );
}

/** Makes the announced payout, once, and records its outcome. */
async function sendPayout(
  { payouts, sender, askAccount, callbackUrlOf }: CreatePayoutDependencies,
  announced: PayoutDone,
  permit: Permit,
  { destination, cause }: { destination: PayOutDestination; cause: Cause },
): Promise<PayoutAggregate> {
  const { token, payout } = announced.aggregate;
  const call = payoutCallAnnouncedBy(announced.events, payout);
  if (call === undefined) return announced.aggregate;
  const { operation, window, providerOrderNumber: orderNumber } = call;
  const { amount, currency } = payout.terms;
  const { environment } = payout;
  const { account } = payout.call;
  const callbackUrl = callbackUrlOf(environment, token, window.sendBy);
  const outcome = await sender.send<ObservedPayout>({
    announced,
    operation,
    window,
    permit,
    send: (provider, maySend) =>
      provider.payout({ amount, currency, orderNumber, destination, callbackUrl }, maySend),
    hasNoEffect: async () =>
      answersThat(
        await askAccount({ environment, account }, cause, (provider) =>
          provider.listPayouts({ orderNumber }),
        ),
        (found) => found.length === 0,
      ),
  });
  return requireDone(await payouts.execute(token, { type: 'RecordPayoutOutcome', outcome }, cause)).aggregate;
}

function toCommand(
  { clock, times, fingerprintsOf }: CreatePayoutDependencies,
  { caller, request }: CreatePayoutInput,
  token: string,
  account: string,
): RequestPayout {
  const { environment, team, keyId: askedBy } = caller;
  const orderNumber = providerOrderNumber(token, 1);
  const requestedAt = clock.now();
  return {
    type: 'RequestPayout',
    environment,
    team,
    wallet: walletNameOf(caller),
    askedBy,
    terms: toPayoutTerms(request),
    ...fingerprintsOf(forFingerprint(request)),
    call: { account, providerOrderNumber: orderNumber, ...windowAt(requestedAt, times) },
    requestedAt,
  };
}

interface PaidTo {
  /** The only account that may pay; undefined if any may. */
  account: string | undefined;
  destination: PayOutDestination;
}

/** The destination in the provider's form; undefined for a recurring token that the team does not have. */
async function resolveDestination(
  { recurringTokens }: CreatePayoutDependencies,
  { caller, request: { destination } }: CreatePayoutInput,
): Promise<PaidTo | undefined> {
  const { recurringToken: alias } = destination;
  if (alias === undefined) return { account: undefined, destination };
  const found = await findRecurringToken(recurringTokens, caller, alias);
  return found && { account: found.account, destination: { recurringToken: found.recurringToken } };
}

/** The recorded terms: of the destination only the storable part. */
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
  // At most half of a short account number.
  const endingStart = Math.max(account.length - 4, Math.ceil(account.length / 2));
  return { kind: 'bankAccount', bankName, accountEnding: account.slice(endingStart) };
}

/** Covers the validated body, except what may not be stored of a card: another account is another payout. */
function forFingerprint({ destination, ...request }: PayoutRequest): object {
  const { card, ...others } = destination;
  if (card === undefined) return { ...request, destination };
  return { ...request, destination: { ...others, card: { mask: maskCardNumber(card.pan) } } };
}

/**
 * True if a payout goes to this bank account. The number is not stored: the fingerprint of the request covers it. Undefined
 * for a card or a recurring token.
 */
export function isPaidTo(
  { fingerprintsOf }: Pick<CreatePayoutDependencies, 'fingerprintsOf'>,
  { terms, fingerprint }: Pick<PayoutAggregate['payout'], 'terms' | 'fingerprint'>,
  account: string,
): boolean | undefined {
  if (terms.destination.kind !== 'bankAccount') return undefined;
  const { bankName } = terms.destination;
  const fingerprintsFor = (written: string) =>
    fingerprintsOf(
      forFingerprint({ ...terms, destination: { bankAccount: { bankName, account: written } } }),
    );
  return [account, account.replaceAll(/\s/g, '')].some((written) =>
    isSameRequest({ fingerprint }, fingerprintsFor(written)),
  );
}

function awaited({ payout }: PayoutAggregate): Awaited {
  if (payout.phase === 'requested') return { kind: 'answer', window: payout.call };
  return { kind: isPayoutAwaited(payout) ? 'inquiry' : 'nothing' };
}
