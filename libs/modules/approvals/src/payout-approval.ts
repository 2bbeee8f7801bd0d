/** A payout above a threshold waits for a second key. The guard records it as waiting, and a repeat sends it once approved. */
import type { Position } from '@tollgate/event-store';
import {
  type AskPayoutApproval,
  type PayoutRefusal,
  type RequestPayout,
  isBeforeAnnouncement,
  type Requester,
  isOwnedBy,
  isToken,
  type PayoutAggregate,
  type Payouts,
  type Cause,
  requireDone,
  isPayoutToken,
  type Guard,
  inProgress,
  type DecisionRecorder,
  recordDecision,
  isPaidTo,
} from '@tollgate/core';
import type { Clock } from '@tollgate/service-kit';

/** The last guard: the other guards have already reserved the payout that it records as awaiting approval. */
export const createApprovalGuard = ({ payouts }: { payouts: Payouts }): Guard => ({
  async check({ caller, cause, token, payout, recordedIn }) {
    if (payout === undefined || recordedIn !== undefined || !mustBeApproved(caller, payout.terms))
      return { kind: 'passed' };
    const executed = await payouts.execute(token, toAsk(payout), cause, { isNew: true });
    if (executed.kind !== 'done') return inProgress;
    return { kind: 'waiting', isNew: executed.events.length > 0 };
  },
});

/** True if the team's payouts above a threshold wait, and this is one. */
const mustBeApproved = (
  { approvalAbove = {} }: Pick<Requester, 'approvalAbove'>,
  { amount, currency }: { amount: number; currency: string },
): boolean => amount > (approvalAbove[currency] ?? Infinity);

/** The approval request in place of the payout, through the account that the request has chosen. */
function toAsk({
  call: { account, providerOrderNumber },
  requestedAt: askedAt,
  type: _,
  ...request
}: RequestPayout): AskPayoutApproval {
  return { ...request, type: 'AskPayoutApproval', account, providerOrderNumber, askedAt };
}

export interface DecidePayoutInput {
  caller: Requester;
  token: string;
  decision: { kind: 'approve' } | { kind: 'refuse'; reason: string };
  cause: Cause;
}

export type DecidePayoutResult =
  { kind: 'decided'; aggregate: PayoutAggregate<Position> } | { kind: 'refused'; refusal: PayoutRefusal };

export interface DecidePayoutDependencies extends DecisionRecorder {
  payouts: Payouts;
  clock: Clock;
}

/** Approves or refuses a payout of the caller's team. Sends nothing. @throws StoreUnavailable */
export async function decidePayoutApproval(
  deps: DecidePayoutDependencies,
  input: DecidePayoutInput,
): Promise<DecidePayoutResult> {
  const { payouts, clock } = deps;
  const { caller, token, decision, cause } = input;
  const known = isToken(token) && isPayoutToken(token) ? await payouts.load(token) : undefined;
  if (known === undefined || !isOwnedBy(known.payout, caller))
    return { kind: 'refused', refusal: { code: 'payout_not_found' } };
  const isWaiting = isBeforeAnnouncement(known.payout);
  if (isWaiting) await recordDecision(deps, input, toRecord(input));
  const executed = await payouts.execute(
    token,
    decision.kind === 'approve'
      ? { type: 'GrantPayout', keyId: caller.keyId, at: clock.now() }
      : { type: 'RefusePayout', keyId: caller.keyId, reason: decision.reason },
    cause,
  );
  if (executed.kind === 'refused') return executed;
  return { kind: 'decided', aggregate: requireDone(executed).aggregate };
}

export type CheckedDestination =
  { kind: 'checked'; isSame: boolean | undefined } | { kind: 'refused'; refusal: PayoutRefusal };

/** Compares an account number with the destination of a payout that waits. Records who compared. @throws StoreUnavailable */
export async function checkPayoutDestination(
  deps: DecidePayoutDependencies & Parameters<typeof isPaidTo>[0],
  input: Omit<DecidePayoutInput, 'decision'> & { account: string },
): Promise<CheckedDestination> {
  const { caller, token, account } = input;
  const known = isToken(token) && isPayoutToken(token) ? await deps.payouts.load(token) : undefined;
  if (known === undefined || !isOwnedBy(known.payout, caller))
    return { kind: 'refused', refusal: { code: 'payout_not_found' } };
  if (!isBeforeAnnouncement(known.payout))
    return { kind: 'refused', refusal: { code: 'payout_not_awaiting_approval' } };
  const isSame = isPaidTo(deps, known.payout, account);
  // A card cannot be compared, so there is nothing to record.
  if (isSame === undefined) return { kind: 'checked', isSame };
  const resolution = isSame ? 'destination_confirmed' : 'destination_differs';
  await recordDecision(deps, input, { token, code: 'awaiting_approval', number: 1, resolution });
  return { kind: 'checked', isSame };
}

/** The security log lists it among the decisions of people. A payout waits for approval at most once. */
const toRecord = ({ token, decision }: DecidePayoutInput) => ({
  token,
  code: 'awaiting_approval',
  number: 1,
  resolution: decision.kind,
});
