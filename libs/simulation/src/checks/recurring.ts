/** A recurring charge uses the stored token of its alias, through the same account, and for the same team only. */
import type { RecordedEvent } from '@tollgate/event-store';
import type { ServiceRequest } from '../payment-service/api.ts';
import type { World } from '../world.ts';
import { type OperationOnRecord, isInReview } from './books.ts';

/** Events that carry an alias. */
const issues = new Set(['RecurringTokenIssued', 'PaymentAdopted']);

interface Terms {
  recurring?: boolean;
  recurringToken?: string;
  destination?: { recurringToken?: string };
}

export function createRecurringChecks({ books, ledger, faults, complain }: World) {
  const terms = new Map<string, Terms>();
  /** By alias: the payment it was issued for. */
  const issuedFor = new Map<string, string>();

  /** The service's token behind an alias. */
  function behind(alias: string) {
    const first = books.find(issuedFor.get(alias) ?? '');
    return { first, there: ledger.findPayment(first?.serviceToken ?? '') };
  }

  return {
    onRecorded: ({ stream, revision, type, data }: RecordedEvent): void => {
      if (stream.startsWith('recurring-')) requireYielded(data as { paymentToken: string; account: string });
      const [, token] = /^(?:payment|payout)-(.+)$/.exec(stream) ?? [];
      if (token === undefined) return;
      if (revision === 0) terms.set(token, (data as { terms?: Terms }).terms ?? {});
      const { recurringToken } = data as { recurringToken?: string };
      if (!issues.has(type) || recurringToken === undefined) return;
      if (issuedFor.has(recurringToken)) complain('recurring', `${recurringToken} was issued twice`);
      issuedFor.set(recurringToken, token);
    },
    /** Runs before the first byte of a creation is sent. */
    onCreationSent: ({ account, body = {} }: ServiceRequest, { token, team }: OperationOnRecord): void => {
      const { recurringToken, destination } = terms.get(token) ?? {};
      const alias = recurringToken ?? destination?.recurringToken;
      const sent = body['recurringToken'] ?? (body['destination'] as Terms | undefined)?.recurringToken;
      if (alias !== undefined || sent !== undefined) {
        const { first, there } = behind(alias ?? '');
        if (there?.recurringToken !== sent || there?.account !== account || first?.team !== team)
          complain(
            'recurring',
            `${token} of ${team} charges ${alias ?? 'nothing'} as ${JSON.stringify(sent)}`,
          );
      }
    },
    /** Payments that yielded a token which their team has not received. */
    differences: (): string[] =>
      books.all().flatMap((operation) => {
        const { token, phase, isMisjudged, serviceToken } = operation;
        const isDue =
          phase === 'approved' &&
          !isInReview(operation) &&
          !isMisjudged &&
          terms.get(token)?.recurring === true;
        const isShown =
          !faults.isBare && ledger.findPayment(serviceToken ?? '')?.recurringToken !== undefined;
        return isDue && isShown && ![...issuedFor.values()].includes(token)
          ? [`${token} has yielded a recurring token, and its team has none`]
          : [];
      }),
  };

  /** A token from a payment that is not ours would charge another customer. */
  function requireYielded({ paymentToken, account }: { paymentToken: string; account: string }): void {
    const attempts = books.find(paymentToken)?.attempts;
    const isThere = ledger.payments.some(
      (each) =>
        (attempts?.has(each.orderNumber) === true || each.isFormer) &&
        !each.isStranger &&
        each.account === account &&
        each.recurringToken !== undefined,
    );
    if (!isThere) complain('recurring', `a token of ${paymentToken} is kept, which has yielded none`);
  }
}
