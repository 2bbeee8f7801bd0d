/** The final journal: on its topic once, the same in every index, and equal to the provider's records entry by entry. */
import { decodeJournalRecord, gatewayJournalTopic, toJournalEntryOnTopic } from '@tollgate/gateway-api';
import type { JournalEntryOnTopic } from '@tollgate/gateway-api';
import type { PaymentIndex } from '@tollgate/lists';
import { teamNames } from '../people/teams.ts';
import type { World } from '../world.ts';
import { type OperationOnRecord, isAwaited, isInReview } from './books.ts';
import { isTaken, isUncertain, paymentsOf, payoutsOf } from './ledger.ts';

/** I7, I15. */
export function journalOnTopic({ broker, complain }: World): JournalEntryOnTopic[] {
  const entries = broker.records
    .filter(({ topic }) => topic === gatewayJournalTopic)
    .flatMap((record) => {
      const decoded = decodeJournalRecord(record);
      if (decoded.kind === 'record') return [decoded.record.entry];
      complain('I7', `a record of the journal is unreadable: ${decoded.reason}`);
      return [];
    });
  if (new Set(entries.map(({ id }) => id)).size < entries.length)
    complain('I7', 'an entry is on the topic of the journal twice');
  for (const { id, token, postings } of entries)
    if (sumOf(postings) !== 0) complain('I15', `the entry ${id} of ${token} does not sum to zero`);
  return entries;
}

/** I8. */
export function requireSameJournal(
  { complain }: World,
  onTopic: readonly JournalEntryOnTopic[],
  { name, index }: { name: string; index: PaymentIndex },
): void {
  const inIndex = journalIn(index).map((entry) => JSON.stringify(entry));
  const expected = onTopic.map((entry) => JSON.stringify(entry));
  const missing = new Set(expected).difference(new Set(inIndex));
  if (missing.size > 0 || inIndex.length !== expected.length)
    complain(
      'I8',
      `the journal of ${name} has ${inIndex.length} entries, and its topic ${expected.length}: ${[...missing][0]}`,
    );
}

function journalIn(index: PaymentIndex): JournalEntryOnTopic[] {
  const owners = [...teamNames, ''].map((team) => ({ environment: 'sandbox' as const, team }));
  const entries: JournalEntryOnTopic[] = [];
  let next: { cursor?: string } | undefined = {};
  while (next !== undefined) {
    const list = index.listJournal({ owners, perPage: 100, ...next });
    if (list.kind !== 'page') throw new Error(`${list.parameter} was refused`);
    entries.push(...list.views.map(toJournalEntryOnTopic));
    next = list.nextCursor === undefined ? undefined : { cursor: list.nextCursor };
  }
  return entries;
}

/** For every payment and payout without open questions, each amount equals the provider's under the same tokens. */
export function requireEntriesOfProvider(world: World, entries: readonly JournalEntryOnTopic[]): void {
  if (world.isRestored()) return;
  const byToken = Map.groupBy(entries, ({ token }) => token);
  for (const operation of world.books.all()) {
    if (isInReview(operation) || isAwaited(operation) || operation.isMisjudged) continue;
    if (isUncertain(world, operation)) continue;
    const own = byToken.get(operation.token) ?? [];
    const [here, there] = [amountsOf(world, own), amountsAt(world, operation)].map((each) =>
      JSON.stringify(each),
    );
    world.saw('the entries of an operation were compared');
    if (here !== there)
      world.complain('I8', `the journal has ${here} of ${operation.token}, and the provider ${there}`);
  }
}

/** Amounts according to the entries of one payment or payout. */
function amountsOf(world: World, entries: readonly JournalEntryOnTopic[]) {
  const posted = (ledgerAccount: string, of = entries) =>
    sumOf(
      of.flatMap(({ postings }) => postings).filter((posting) => posting.ledgerAccount === ledgerAccount),
    );
  const refunds = [...Map.groupBy(entries, ({ refundToken }) => refundToken)]
    .filter(([token]) => token !== undefined)
    .map(([, own]) => posted('customers', own));
  return {
    taken: -posted('customers'),
    refunds: inOrder(refunds),
    paidOut: posted('paidOut'),
    ...(seesDisputes(world) && { disputed: posted('disputed'), lost: posted('lost') }),
  };
}

/** Amounts according to the provider. */
function amountsAt(world: World, operation: OperationOnRecord): ReturnType<typeof amountsOf> {
  const { ledger } = world;
  const taken = paymentsOf(world, operation).filter(({ status }) => isTaken.has(status));
  const isOwn = (payment: string) => taken.some(({ token }) => token === payment);
  const refunds = ledger.refunds.filter(({ payment, status }) => status === 'approved' && isOwn(payment));
  const disputes = ledger.disputes.filter(({ payment }) => isOwn(payment));
  const disputedAs = (status: string) => sumOf(disputes.filter(({ statuses }) => statuses.at(-1) === status));
  return {
    taken: sumOf(taken) - taken.reduce((sum, { refundedAmount }) => sum + refundedAmount, 0),
    refunds: inOrder(refunds.map(({ amount }) => amount)),
    paidOut: sumOf(payoutsOf(world, operation).filter(({ status }) => status === 'approved')),
    ...(seesDisputes(world) && { disputed: disputedAs('pending'), lost: disputedAs('approved') }),
  };
}

const seesDisputes = ({ faults }: World): boolean => !faults.isBare && faults.showsDisputedPayments;

const inOrder = (amounts: readonly number[]): number[] =>
  amounts.filter((amount) => amount !== 0).toSorted((a, b) => a - b);

const sumOf = (all: readonly { amount: number }[]): number =>
  all.reduce((sum, { amount }) => sum + amount, 0);
