/** Recorded disputes match the provider's: every status, in order, and in the end the final status and the payment. */
import type { RecordedEvent } from '@tollgate/event-store';
import type { DisputeStatus, LedgerDispute } from '../payment-service/ledger.ts';
import type { World } from '../world.ts';

interface DisputeOnRecord {
  token: string;
  team?: string;
  paymentToken?: string;
  /** The first event that named the team. */
  ownedFrom?: number;
  /** The dispute at the service, and the index of the last recorded status. */
  there: LedgerDispute | undefined;
  place: number;
}

export function createDisputeChecks(world: World) {
  const { ledger, books, complain } = world;
  const onRecord = new Map<string, DisputeOnRecord>();

  function begin(token: string, { id, account, amount, currency }: Recorded): DisputeOnRecord {
    const there = ledger.disputes.find((each) => each.id === id && each.account === account);
    if (there?.amount !== amount || there?.currency !== currency)
      complain('disputes', `${token} is recorded over ${amount} ${currency}`);
    return { token, there, place: -1 };
  }

  function requireOwn({ team, paymentToken = '', there }: DisputeOnRecord): void {
    const payment = ledger.findPayment(there?.payment ?? '');
    const own = books.find(paymentToken);
    if (payment === undefined || own?.serviceToken !== payment.token || own.team !== team)
      complain('I14', `the dispute ${there?.id} is taken for one of ${paymentToken}, ${team}`);
  }

  return {
    onRecorded: ({ stream, revision, data }: RecordedEvent): void => {
      if (!stream.startsWith('dispute-')) return;
      const recorded = data as Recorded;
      const { status, team, paymentToken } = recorded;
      const token = stream.slice('dispute-'.length);
      const dispute = onRecord.get(token) ?? begin(token, recorded);
      onRecord.set(token, dispute);
      if (team !== undefined) Object.assign(dispute, { team, ownedFrom: dispute.ownedFrom ?? revision });
      if (paymentToken !== undefined) Object.assign(dispute, { paymentToken });
      if (dispute.team !== undefined || dispute.paymentToken !== undefined) requireOwn(dispute);
      if (status === undefined) return;
      const { there, place } = dispute;
      dispute.place = there?.statuses.indexOf(status, place + 1) ?? -1;
      if (dispute.place === -1)
        complain('disputes', `${token} is ${status}, and after ${place} of it was ${there?.statuses.join()}`);
    },
    /** Differences between the gateway and the service. */
    differences: (): string[] => {
      if (world.faults.isBare) return [];
      const recorded = new Map([...onRecord.values()].map((each) => [each.there, each]));
      return ledger.disputes.flatMap((there) => differenceOf(world, there, recorded.get(there)) ?? []);
    },
    /** The disputes known to belong to a team. */
    ofTeam: (team: string): readonly DisputeOnRecord[] =>
      [...onRecord.values()].filter((each) => each.team === team),
  };
}

interface Recorded {
  id?: string;
  account?: string;
  amount?: number;
  currency?: string;
  status?: DisputeStatus;
  team?: string;
  paymentToken?: string;
}

const stateOf = { pending: 'opened', approved: 'lost', declined: 'won' } as const;

function differenceOf(
  { ledger, books, faults }: World,
  { id, payment: serviceToken, statuses }: LedgerDispute,
  recorded: DisputeOnRecord | undefined,
): string | undefined {
  if (recorded === undefined) return `the dispute ${id} is not on record`;
  if (statuses[recorded.place] !== statuses.at(-1)) return `the dispute ${id} is ${statuses.at(-1)} by now`;
  const owner = books.find(recorded.paymentToken ?? '');
  const state = owner?.disputes.get(recorded.token)?.state;
  if (owner !== undefined && !owner.isMisjudged && state !== stateOf[statuses.at(-1) ?? 'pending'])
    return `the dispute ${id} is ${statuses.at(-1)}, and its payment ${owner.token} says otherwise`;
  const orderNumber = ledger.findPayment(serviceToken)?.orderNumber ?? '';
  const isKnown = books.byOrderNumber(orderNumber)?.serviceToken === serviceToken;
  return faults.showsDisputedPayments && isKnown && owner === undefined
    ? `the dispute ${id} is about ${orderNumber}, and belongs to no payment here`
    : undefined;
}
