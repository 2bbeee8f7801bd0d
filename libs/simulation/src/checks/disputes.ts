/**
 * The gateway learns of disputes from a list that it reads; what it has on record of each must be what it was, in the order in which it was,
 * and in the end what it is.
 */
import type { RecordedEvent } from '@tollgate/event-store';
import type { DisputeStatus, LedgerDispute } from '../payment-service/ledger.ts';
import type { World } from '../world.ts';

interface DisputeOnRecord {
  token: string;
  status: string;
  team: string | undefined;
  paymentToken: string | undefined;
  /** The event that first named the team. */
  ownedFrom: number | undefined;
}

export function createDisputeChecks(parts: World) {
  const { ledger, books, complain } = parts;
  const onRecord = new Map<string, DisputeOnRecord>();
  /** By token: how far in what it was the record has come. */
  const places = new Map<string, { dispute: LedgerDispute; index: number }>();

  function requireTrue({ token, status }: DisputeOnRecord): void {
    const place = places.get(token);
    if (place === undefined) return complain('disputes', `${token} is on record, and the service has none`);
    const { dispute: there, index } = place;
    const at = there.statuses.indexOf(status as DisputeStatus, index + 1);
    if (at === -1)
      return complain(
        'disputes',
        `${there.id} is recorded as ${status}, after ${there.statuses[index] ?? 'nothing'}: it was ${there.statuses.join(', ')}`,
      );
    place.index = at;
  }

  function requireOwn({ team, paymentToken }: DisputeOnRecord, there: LedgerDispute | undefined): void {
    if (paymentToken === undefined && team === undefined) return;
    const payment = there === undefined ? undefined : ledger.findPayment(there.payment);
    const own = books.find(paymentToken ?? '');
    if (payment === undefined || own?.serviceToken !== payment.token || own.team !== team)
      complain(
        'I14',
        `the dispute ${there?.id ?? ''} of ${payment?.orderNumber ?? ''} is taken for one of ${paymentToken ?? ''}, ${team ?? ''}`,
      );
  }

  return {
    onRecorded: ({ stream, revision, data: recorded }: RecordedEvent): void => {
      if (!stream.startsWith('dispute-')) return;
      const data = recorded as Partial<Record<string, string>>;
      const token = stream.slice('dispute-'.length);
      const { id, account, currency, status, team, paymentToken } = data;
      const before = onRecord.get(token);
      if (before === undefined) {
        const there = ledger.disputes.find((each) => each.id === id && each.account === account);
        if (there !== undefined) places.set(token, { dispute: there, index: -1 });
        if (there?.amount !== Number(data.amount) || there.currency !== currency)
          complain('disputes', `${token} is recorded over ${String(data.amount)} ${currency ?? ''}`);
      }
      const after = {
        token,
        status: status ?? before?.status ?? '',
        team: team ?? before?.team,
        paymentToken: paymentToken ?? before?.paymentToken,
        ownedFrom: before?.ownedFrom ?? (team === undefined ? undefined : revision),
      };
      onRecord.set(token, after);
      if (status !== undefined) requireTrue(after);
      requireOwn(after, places.get(token)?.dispute);
    },
    /** Where the gateway does not agree with the service. */
    differences: (): string[] => {
      if (parts.faults.isBare) return [];
      const recorded = new Map(
        [...places].map(([token, { dispute: there }]) => [there, onRecord.get(token)]),
      );
      return ledger.disputes.flatMap((there) => differenceOf(parts, there, recorded.get(there)) ?? []);
    },
    /** Of a team, those that are known to be its own. */
    ofTeam: (team: string): readonly DisputeOnRecord[] =>
      [...onRecord.values()].filter((each) => each.team === team),
  };
}

function differenceOf(
  { ledger, books, faults }: World,
  { id, payment: serviceToken, statuses }: LedgerDispute,
  recorded: DisputeOnRecord | undefined,
): string | undefined {
  if (recorded === undefined) return `the dispute ${id} is not on record`;
  const is = statuses.at(-1) ?? '';
  if (recorded.status !== is) return `the dispute ${id} is ${recorded.status} here, ${is} at the service`;
  const orderNumber = ledger.findPayment(serviceToken)?.orderNumber ?? '';
  const isKnown = books.byOrderNumber(orderNumber)?.serviceToken === serviceToken;
  return faults.showsDisputedPayments && isKnown && recorded.paymentToken === undefined
    ? `the dispute ${id} is about ${orderNumber}, and belongs to no payment here`
    : undefined;
}
