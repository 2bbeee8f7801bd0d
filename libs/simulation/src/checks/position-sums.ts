/**
 * What the sums of the index say that a team may pay out is what it has at the service; never more, where a person is still to say what
 * came in or went out.
 */
import { type OperationOnRecord, isAwaited } from './books.ts';
import { teamNames } from '../people/teams.ts';
import type { World } from '../world.ts';

const patienceMs = 60_000;

/** After everything has been compared: it is no part of the history. */
export async function comparePositions(world: World): Promise<void> {
  // What was forgotten is in nobody's position (seed 68793).
  if (world.isRestored()) return;
  const { machines, scheduler, complain } = world;
  for (const { machine, process } of machines)
    for (const team of teamNames) {
      if (process === undefined) continue;
      const known: { available?: bigint } = {};
      process.index
        .currentPositions({ environment: 'sandbox', currency: 'EUR', teams: [team], payouts: [] })
        .then(
          ({ byAccount }) => {
            known.available = [...byAccount.values()].reduce((sum, { available }) => sum + available, 0n);
          },
          (error: unknown) => complain('position', `${team} is not told its position: ${String(error)}`),
        );
      await scheduler.runUntil(
        scheduler.now() + patienceMs,
        () => known.available !== undefined || world.hasFailed(),
      );
      if (world.hasFailed()) return;
      requireTrue(world, { team, name: machine.name, available: Number(known.available) });
    }
}

function requireTrue(
  world: World,
  { team, name, available }: { team: string; name: string; available: number },
): void {
  const own = world.books.all().filter((each) => each.team === team);
  // The service has three days to decide a refund that it has accepted: what is refunded meanwhile may be that one, or another.
  if (own.some(isBeingRefunded)) return;
  // A person has said, by what the service has shown, that it is of another amount.
  if (own.some((each) => ofService(world.ledger.payments, each).some(({ wasShownWrong }) => wasShownWrong)))
    return;
  // What is in review is not waited for: what has changed at the service since then is learnt by the next inquiry (seeds 9513, 64528).
  if (own.some((each) => each.reviews.size > 0 && !isLearnt(world, each))) return;
  const there = own.reduce((sum, each) => sum + leftOf(world, each), 0);
  // What an awaited payout would move is held, also between two reviews of it.
  const isInReview = own.some((each) => each.reviews.size > 0 || isAwaited(each));
  world.saw(isInReview ? 'a position was compared while something is in review' : 'a position was compared');
  if (isInReview ? available > there : available !== there)
    world.complain(
      'position',
      `${team} has ${available} by the index of ${name}, and ${there} at the service`,
    );
}

/** What the service has is on record, or in the evidence of a review. */
function isLearnt({ ledger }: World, operation: OperationOnRecord): boolean {
  const { phase: status, refundedAmount, reviews } = operation;
  const onRecord = { status, amount: sumOf(operation), refundedAmount };
  const inReview = [...reviews.values()].map(({ evidence }) => ({
    status: evidence['observedStatus'] ?? status,
    amount: evidence['observedAmount'] ?? onRecord.amount,
    refundedAmount: evidence['observedRefundedAmount'] ?? refundedAmount,
  }));
  return [...ofService(ledger.payments, operation), ...ofService(ledger.payouts, operation)].every((each) =>
    [onRecord, ...inReview].some(
      (learnt) =>
        learnt.status === each.status &&
        learnt.amount === each.amount &&
        learnt.refundedAmount === ('refundedAmount' in each ? each.refundedAmount : 0),
    ),
  );
}

const sumOf = ({ amount, approvedAmount }: OperationOnRecord): number =>
  approvedAmount > 0 ? approvedAmount : amount;

const isBeingRefunded = ({ refunds }: OperationOnRecord): boolean =>
  [...refunds.values()].some(({ state }) => state === 'accepted');

/** What is there of the money of a payment; less than nothing for a payout. */
function leftOf({ ledger }: World, operation: OperationOnRecord): number {
  const paidOut = ofService(ledger.payouts, operation).filter(({ status }) => status !== 'declined');
  const taken = ofService(ledger.payments, operation).filter(
    ({ status, isStranger }) => !isStranger && (status === 'approved' || status === 'refunded'),
  );
  // What waits for a second key is held.
  const waiting = operation.phase === 'awaiting_approval' || operation.phase === 'approval_granted';
  return (
    taken.reduce((sum, { amount, refundedAmount }) => sum + amount - refundedAmount, 0) -
    paidOut.reduce((sum, { amount }) => sum + amount, waiting ? operation.amount : 0)
  );
}

/** What the service has under its numbers. */
const ofService = <Entry extends { orderNumber: string; token: string }>(
  entries: readonly Entry[],
  { attempts, serviceToken }: OperationOnRecord,
): Entry[] => entries.filter(({ orderNumber, token }) => attempts.has(orderNumber) || token === serviceToken);
