/** Disputes, stored cards and payments without an owner agree with the provider's records. */
import type { RecordedEvent } from '@tollgate/event-store';
import type { ServiceRequest } from '../payment-service/api.ts';
import type { Outcome, LedgerDispute, LedgerPayment, LedgerPayout } from '../payment-service/ledger.ts';
import type { World } from '../world.ts';
import { type OperationOnRecord, isInReview } from './books.ts';

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
  status?: Outcome;
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
    onRecorded: (
      { stream, revision, data }: RecordedEvent,
      operation: OperationOnRecord | undefined,
    ): void => {
      if (stream.startsWith('recurring-')) requireYielded(data as { paymentToken: string; account: string });
      if (operation === undefined) return;
      const { token } = operation;
      if (revision === 0) terms.set(token, (data as { terms?: Terms }).terms ?? {});
      const { recurringToken } = data as { recurringToken?: string };
      if (recurringToken === undefined) return;
      if (issuedFor.has(recurringToken)) complain('recurring', `${recurringToken} was issued twice`);
      issuedFor.set(recurringToken, token);
    },
    /** Runs before the first byte of a creation is sent. */
    onCreationSent: ({ account, body }: ServiceRequest, { token, team }: OperationOnRecord): void => {
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

export function createUnmatchedChecks({ ledger, books, isRestored }: World) {
  /** Service tokens that have, or had, a review of their own or of the payment whose forgotten attempt they are. */
  const named = new Set<unknown>();
  /** The service's token by stream, while a review is open. */
  const open = new Map<string, string>();

  const isKnown = ({ token, orderNumber }: LedgerPayment | LedgerPayout): boolean =>
    books.byOrderNumber(orderNumber) !== undefined ||
    books.find(orderNumber.replace(/\.\d+$/, ''))?.serviceToken === token ||
    named.has(token);

  const unreported = () =>
    [...ledger.payments, ...ledger.payouts]
      .filter((each) => hasMoved(each) && !isKnown(each))
      .map(({ orderNumber }) => `the service has ${orderNumber}, and no review reports it`);

  return {
    onRecorded: ({ stream, type, data }: RecordedEvent): void => {
      const { serviceToken, evidence } = data as {
        serviceToken?: string;
        evidence?: { serviceToken?: string };
      };
      named.add(evidence?.serviceToken);
      if (!stream.startsWith('unmatched-')) return;
      named.add(serviceToken);
      if (type === 'ReviewOpened') open.set(stream, String(evidence?.serviceToken));
      if (type === 'ReviewResolved') open.delete(stream);
    },
    /** Open reviews whose payment has an owner by now; after a restore, also payments without a review. */
    differences: (): string[] => {
      const owned = new Set(books.all().map((each) => each.serviceToken));
      const stale = [...open.values()]
        .filter((token) => owned.has(token))
        .map((token) => `${token} belongs to a team, and is still in review as unmatched`);
      return isRestored() ? [...stale, ...unreported()] : stale;
    },
  };
}

/** Excludes voided payments and those of other installations. */
const hasMoved = (each: LedgerPayment | LedgerPayout): boolean =>
  'isStranger' in each
    ? !each.isStranger && (each.heldAmount > 0 || ['approved', 'refunded'].includes(each.status))
    : each.status !== 'declined';
