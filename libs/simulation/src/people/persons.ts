/** People who resolve reviews: they check the service, or guess. A team's key resolves reviews as well. */
import { type OperationOnRecord, type ReviewOnRecord, guess } from '../checks/books.ts';
import type { Ledger } from '../payment-service/ledger.ts';
import type { Random } from '../world/random.ts';
import { type Caller, type CallerOf, isSuccess, post } from './front-door.ts';
import { type TeamName, persons } from './teams.ts';

/** The possible resolutions, right or wrong. */
const allowed: Record<string, readonly string[]> = {
  attempt_not_found: ['check_again', 'payment_not_made'],
  payout_not_found: ['check_again', 'payout_not_made'],
  refund_unresolved: ['check_again', 'refund_made', 'refund_not_made'],
  service_not_readable: ['check_again', 'acknowledged'],
  discrepancy: ['accept_theirs', 'keep_ours', 'check_again'],
  dispute_opened: ['acknowledged', 'dispute_won', 'dispute_lost'],
};

/** Maximum number of resolutions for one payment or payout. */
const answersMax = 6;

/** Seven of ten seeds have people who resolve reviews. */
export function beginPersons(callerOf: CallerOf) {
  const caller = callerOf('persons');
  const { random, books } = caller;
  const isCareless = random.chance(0.6);
  const answered = new Map<string, number>();
  const state = { isStopped: !random.chance(0.7), isIdle: true };

  async function look(): Promise<void> {
    const waiting = books
      .all()
      .filter(({ token, reviews }) => reviews.size > 0 && (answered.get(token) ?? 0) < answersMax);
    if (waiting.length === 0) return;
    const operation = random.pick(waiting);
    answered.set(operation.token, (answered.get(operation.token) ?? 0) + 1);
    await resolve(caller, operation, isCareless);
  }

  async function work(): Promise<void> {
    while (!state.isStopped) {
      await caller.sleep(random.between(5_000, 120_000));
      state.isIdle = false;
      if (!state.isStopped) await look();
      state.isIdle = true;
    }
  }

  void work();
  return {
    /** True if no request is pending. */
    isIdle: () => state.isIdle,
    stop: () => void (state.isStopped = true),
  };
}

async function resolve(caller: Caller, operation: OperationOnRecord, isCareless: boolean): Promise<void> {
  const { ledger, random, saw } = caller;
  const { token, team } = operation;
  const [number, review] = random.pick([...operation.reviews]);
  const truth = truthAbout(ledger, operation, review);
  const person = isCareless && random.chance(0.5) ? undefined : random.pick(persons);
  const resolution = isCareless ? (guessAbout(random, review.code, person) ?? truth) : truth;
  // A resolution by a key does not release the money: it stays reserved.
  const isTrue = resolution === 'check_again' || (resolution === truth && person !== undefined);
  const reason = isTrue ? 'Compared with the list of the service.' : guess;
  const body = { code: review.code, number, resolution, reason };
  caller.trace.log(`a person answers ${review.code} of ${token}: ${resolution}`);
  const request = post(team as TeamName, `reviews/${token}/resolve`, body);
  const answer = await caller.request({ ...request, person });
  if (!isTrue && isSuccess(answer)) saw(person === undefined ? 'a key guessed' : 'a person guessed');
  if (answer.statusCode === 200) saw(`resolved: ${resolution}`);
  if (answer.statusCode === 202) saw('a second person must agree');
}

/** A key mostly chooses a resolution that it is allowed to give, like a team that wants its money back. */
function guessAbout(random: Random, code: string, person: string | undefined): string | undefined {
  const answers = allowed[code] ?? [];
  const ofKeys = answers.filter((each) => each === 'keep_ours' || each === 'acknowledged');
  const isLikely = person === undefined && ofKeys.length > 0 && random.chance(0.7);
  return answers.length === 0 ? undefined : random.pick(isLikely ? ofKeys : answers);
}

function truthAbout(
  ledger: Ledger,
  operation: OperationOnRecord,
  { code, evidence }: ReviewOnRecord,
): string {
  const { payments, payouts } = ledger;
  // Includes an attempt that a restored store has lost.
  const isOwn = ({ orderNumber }: { orderNumber: string }) => orderNumber.startsWith(`${operation.token}.`);
  switch (code) {
    case 'attempt_not_found':
      return payments.some((each) => isOwn(each) && !each.isStranger) ? 'check_again' : 'payment_not_made';
    case 'payout_not_found':
      return payouts.some(isOwn) ? 'check_again' : 'payout_not_made';
    case 'refund_unresolved':
      return refundAt(ledger, operation, String(evidence['refundToken']));
    case 'dispute_opened':
      return 'acknowledged';
    case 'discrepancy':
      return truthOfDiscrepancy(ledger, operation, evidence);
    default:
      return 'check_again';
  }
}

function truthOfDiscrepancy(
  ledger: Ledger,
  operation: OperationOnRecord,
  { kind, serviceToken, observedStatus, observedAmount, refundToken }: ReviewOnRecord['evidence'],
): string {
  if (String(kind).startsWith('second_') || refundToken !== undefined) return 'keep_ours';
  const there = [...ledger.payments, ...ledger.payouts].find(({ token }) => token === serviceToken);
  const isFinal = there?.status !== 'init' && there?.status !== 'pending';
  if (kind === 'final_status_revised')
    return isFinal && there?.status === observedStatus ? 'accept_theirs' : 'keep_ours';
  const isTrue = kind === 'terms_disagree' && isAmountOf(ledger, operation, observedAmount);
  return isTrue ? 'accept_theirs' : 'check_again';
}

/** For a payment the amount counts only if it was approved before: the amount of an open payment comes from a fault. */
function isAmountOf(
  { payments, payouts }: Ledger,
  { token, kind, approvedAmount, serviceToken }: OperationOnRecord,
  amount: unknown,
): boolean {
  if (kind === 'payment')
    return (
      approvedAmount > 0 && payments.some((each) => each.token === serviceToken && each.amount === amount)
    );
  return payouts.some((each) => each.orderNumber.startsWith(`${token}.`) && each.amount === amount);
}

/** For refunds of the same amount, the service has as many as we know of, or one more. */
function refundAt(ledger: Ledger, { serviceToken, refunds }: OperationOnRecord, refundToken: string): string {
  const amount = refunds.get(refundToken)?.amount;
  const there = ledger.refunds.filter((each) => each.payment === serviceToken && each.amount === amount);
  if (there.some(({ status }) => status === 'pending')) return 'check_again';
  const made = there.filter(({ status }) => status === 'approved').length;
  const known = [...refunds.values()].filter((each) => each.amount === amount && each.state === 'approved');
  return made > known.length ? 'refund_made' : 'refund_not_made';
}
