/** The gateway's statements about the service must have been true: a review or revision needs a cause in the world. */
import type { RecordedEvent } from '@tollgate/event-store';
import { wasClockStepped } from '../faults/faults.ts';
import type { LedgerPayment, LedgerPayout } from '../payment-service/ledger.ts';
import type { World } from '../world.ts';
import type { OperationOnRecord } from './books.ts';
import { payoutsOf } from './ledger.ts';

interface Evidence {
  operation: OperationOnRecord;
  /** The service's payments under its order numbers, including strangers and attempts that a restore lost. */
  listed: readonly LedgerPayment[];
  payouts: readonly LedgerPayout[];
  /**
   * A host's clock was an hour ahead of the service's. By these clocks a payment was made before its announcement, so it is not
   * recognized as ours.
   */
  wasClockWrong: boolean;
}

/** An event claims nothing that the service never showed. */
export function requireHonest(
  world: World,
  { type, data }: RecordedEvent,
  operation: OperationOnRecord | undefined,
): void {
  // After a guess, the record follows the person's resolution.
  if (operation === undefined || operation.isMisjudged) return;
  const lie = (text: string) => world.complain('honesty', `${operation.token} ${text}`);
  const { token, serviceToken } = operation;
  const listed = world.ledger.payments.filter(
    (each) => each.orderNumber.startsWith(`${token}.`) || each.token === serviceToken,
  );
  if (type === 'FinalStatusRevised') {
    const revisions = listed.reduce((sum, each) => sum + each.revisions, 0);
    // A status adopted from a wrong listing is corrected by a revision.
    // A payment that failed here but was made at the service is revised once here, and not at the service.
    const known = revisions + (hasFailed(operation) ? 1 : 0);
    if (operation.revisions > known && !listed.some(({ wasShownWrong }) => wasShownWrong))
      lie(`was revised ${operation.revisions} times here, ${revisions} times at the service`);
  }
  if (type !== 'ReviewOpened') return;
  const { code = '', discrepancy } = data as { code?: string; discrepancy?: { kind: string } };
  const kind = discrepancy?.kind ?? code;
  const wasClockWrong = wasClockStepped(world.faults);
  if (causes[kind]?.({ operation, listed, payouts: payoutsOf(world, operation), wasClockWrong }) === false)
    lie(`is in review without a cause: ${kind}`);
}

const hasFailed = ({ events }: OperationOnRecord): boolean =>
  events.includes('PaymentFailed') || events.includes('PayoutFailed');

/** The payment of the latest attempt. An earlier attempt may have made a page, but no customer was given it. */
const own = ({ listed, operation }: Evidence): LedgerPayment[] => {
  const latest = [...operation.attempts.keys()].at(-1);
  return listed.filter(({ isStranger, orderNumber }) => !isStranger && orderNumber === latest);
};

const causes: Record<string, (evidence: Evidence) => boolean> = {
  attempt_not_found: (evidence) => evidence.wasClockWrong || own(evidence).length === 0,
  payout_not_found: ({ wasClockWrong, payouts }) => wasClockWrong || payouts.length === 0,
  // By a wrong clock, a status older than half an hour does not count as stale.
  final_status_revised: ({ wasClockWrong, listed, payouts, operation }) =>
    wasClockWrong || hasFailed(operation) || [...listed, ...payouts].some(({ revisions }) => revisions > 0),
  terms_disagree: ({ listed, payouts }) =>
    listed.some(({ wasShownWrong, isStranger, revisions }) => wasShownWrong || isStranger || revisions > 1) ||
    payouts.some(({ wasShownWrong }) => wasShownWrong),
  unknown_status: ({ listed, payouts }) =>
    [...listed, ...payouts].some(({ wasShownUnknown }) => wasShownUnknown),
  // A refused page may exist if no inquiry about the refusal was answered.
  second_payment_found: ({ listed, operation }) =>
    listed.length > 1 ||
    listed.some(
      ({ isStranger, isHosted, orderNumber }) =>
        isStranger || isHosted || !operation.attempts.has(orderNumber),
    ),
};
