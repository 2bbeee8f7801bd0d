/** The gateway's statements about the service must have been true: a review or revision needs a cause in the world. */
import type { RecordedEvent } from '@tollgate/event-store';
import { wasClockStepped } from '../faults/faults.ts';
import type { Ledger, LedgerPayment } from '../payment-service/ledger.ts';
import type { World } from '../world.ts';
import type { OperationOnRecord } from './books.ts';

interface Evidence {
  operation: OperationOnRecord;
  /** Everything the service has under this operation's order numbers, including strangers and attempts that a restore lost. */
  listed: readonly LedgerPayment[];
  ledger: Ledger;
  /**
   * A host's clock was an hour ahead of the service's. By these clocks a payment was made before its announcement, so it is not
   * recognized as ours.
   */
  wasClockWrong: boolean;
}

/** Claims of an event that the service never showed. */
export function liesOf(
  { ledger, books, faults }: World,
  { stream, type, data }: RecordedEvent,
): readonly string[] {
  const operation = books.find(stream.replace(/^(payment|payout)-/, ''));
  // After a guess, the record follows the person's resolution.
  if (operation === undefined || operation.isMisjudged) return [];
  const { token } = operation;
  const isListed = ({ orderNumber, token: at }: { orderNumber: string; token: string }) =>
    orderNumber.startsWith(`${token}.`) || at === operation.serviceToken;
  const listed = ledger.payments.filter(isListed);
  const evidence = { operation, listed, ledger, wasClockWrong: wasClockStepped(faults) };
  if (type === 'FinalStatusRevised') {
    const ofService = [...listed, ...ledger.payouts.filter(isListed)];
    const revisions = ofService.reduce((sum, each) => sum + each.revisions, 0);
    // A status adopted from a wrong listing is corrected by a revision.
    // A payment that failed here but was made at the service is revised once here, and not at the service.
    const known = revisions + (hasFailed(operation) ? 1 : 0);
    return operation.revisions <= known || listed.some(({ wasShownWrong }) => wasShownWrong)
      ? []
      : [`${token} was revised ${operation.revisions} times here, ${revisions} times at the service`];
  }
  if (type !== 'ReviewOpened') return [];
  const { code = '', discrepancy } = data as { code?: string; discrepancy?: { kind: string } };
  const isTrue = causes[discrepancy?.kind ?? code];
  return isTrue === undefined || isTrue(evidence)
    ? []
    : [`${token}: ${discrepancy?.kind ?? code} is in review without a cause`];
}

const hasFailed = ({ events }: OperationOnRecord): boolean =>
  events.includes('PaymentFailed') || events.includes('PayoutFailed');

/** The payment of the latest attempt. An earlier attempt may have made a page, but no customer was given it. */
const own = ({ listed, operation }: Evidence): LedgerPayment[] => {
  const latest = [...operation.attempts.keys()].at(-1);
  return listed.filter(({ isStranger, orderNumber }) => !isStranger && orderNumber === latest);
};

const payoutsOf = ({ ledger, operation }: Pick<Evidence, 'ledger' | 'operation'>) =>
  ledger.payouts.filter(({ orderNumber }) => operation.attempts.has(orderNumber));

const causes: Record<string, (evidence: Evidence) => boolean> = {
  attempt_not_found: (evidence) => evidence.wasClockWrong || own(evidence).length === 0,
  payout_not_found: ({ wasClockWrong, ledger, operation }) =>
    wasClockWrong || payoutsOf({ ledger, operation }).length === 0,
  // By a wrong clock, a status older than half an hour does not count as stale.
  final_status_revised: ({ wasClockWrong, listed, ledger, operation }) =>
    wasClockWrong ||
    hasFailed(operation) ||
    [...listed, ...payoutsOf({ ledger, operation })].some(({ revisions }) => revisions > 0),
  terms_disagree: ({ listed, ledger, operation }) =>
    listed.some(({ wasShownWrong, isStranger, revisions }) => wasShownWrong || isStranger || revisions > 1) ||
    payoutsOf({ ledger, operation }).some(({ wasShownWrong }) => wasShownWrong),
  unknown_status: ({ listed, ledger, operation }) =>
    [...listed, ...payoutsOf({ ledger, operation })].some(({ wasShownUnknown }) => wasShownUnknown),
  // A refused page may exist if no inquiry about the refusal was answered.
  second_payment_found: ({ listed, operation }) =>
    listed.length > 1 ||
    listed.some(
      ({ isStranger, isHosted, orderNumber }) =>
        isStranger || isHosted || !operation.attempts.has(orderNumber),
    ),
};
