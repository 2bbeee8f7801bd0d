/** A person who looks after reviews: compares them with what the service has, and answers truly. */
import type { OperationOnRecord, ReviewOnRecord } from '../checks/books.ts';
import type { CallerWorld } from './caller.ts';
import type { Ledger } from '../payment-service/ledger.ts';
import { type Person, type TeamName, persons } from './teams.ts';
import type { World } from '../world.ts';

export interface Persons {
  /** Waits for no answer. */
  isIdle(): boolean;
  stop(): void;
}

/** Of one payment or payout, however often it is still so. */
const answersMax = 6;

/** Under half of the seeds somebody is there. */
export function beginPersons(world: World, callerOf: (random: World['random']) => CallerWorld): Persons {
  const random = world.random.fork('persons');
  const answered = new Map<string, number>();
  const state = { isStopped: !random.chance(0.5), isIdle: true };
  const caller = callerOf(random);

  async function look(): Promise<void> {
    const waiting = world.books
      .all()
      .filter(({ token, reviews }) => reviews.size > 0 && (answered.get(token) ?? 0) < answersMax);
    if (waiting.length === 0) return;
    const operation = random.pick(waiting);
    const [number, review] = random.pick([...operation.reviews]);
    answered.set(operation.token, (answered.get(operation.token) ?? 0) + 1);
    await resolve(world, caller, operation, { number, review, person: random.pick(persons) });
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
  return { isIdle: () => state.isIdle, stop: () => void (state.isStopped = true) };
}

async function resolve(
  { ledger, saw }: World,
  { request, tell }: CallerWorld,
  operation: OperationOnRecord,
  { number, review, person }: { number: number; review: ReviewOnRecord; person: Person },
): Promise<void> {
  const { token, team } = operation;
  const { code } = review;
  const resolution = truthAbout(ledger, operation, review);
  tell(`a person answers ${code} of ${token}: ${resolution}`);
  const answer = await request({
    team: team as TeamName,
    person,
    method: 'POST',
    url: `/api/v1/reviews/${token}/resolve`,
    body: { code, number, resolution, reason: 'Compared with the list of the service.' },
  });
  if (answer.kind === 'answer' && answer.statusCode === 200) saw(`resolved: ${resolution}`);
  if (answer.kind === 'answer' && answer.statusCode === 202) saw('a second person must agree');
}

function truthAbout(
  ledger: Ledger,
  operation: OperationOnRecord,
  { code, evidence }: ReviewOnRecord,
): string {
  // Also an attempt that a restored store has forgotten.
  const isOwn = ({ orderNumber }: { orderNumber: string }) => orderNumber.startsWith(`${operation.token}.`);
  switch (code) {
    case 'attempt_not_found':
      return ledger.payments.some((each) => isOwn(each) && !each.isStranger)
        ? 'check_again'
        : 'payment_not_made';
    case 'payout_not_found':
      return ledger.payouts.some(isOwn) ? 'check_again' : 'payout_not_made';
    case 'refund_unresolved':
      return refundAt(ledger, operation, String(evidence['refundToken']));
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

/** Of a payment only where it was approved before: of one that is open it is what a fault showed. */
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

/** Of refunds over the same amount the service has as many as we know of, or one more. */
function refundAt(ledger: Ledger, { serviceToken, refunds }: OperationOnRecord, refundToken: string): string {
  const amount = refunds.get(refundToken)?.amount;
  const there = ledger.refunds.filter((each) => each.payment === serviceToken && each.amount === amount);
  if (there.some(({ status }) => status === 'pending')) return 'check_again';
  const made = there.filter(({ status }) => status === 'approved').length;
  const known = [...refunds.values()].filter((each) => each.amount === amount && each.state === 'approved');
  return made > known.length ? 'refund_made' : 'refund_not_made';
}
