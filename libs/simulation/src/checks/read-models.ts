/** I8: read models built incrementally, through crashes, equal a rebuild from the events; the journal equals the provider's records. */
import type { RecordedEvent } from '@tollgate/event-store';
import {
  type JournalEntryOnTopic,
  decodeJournalRecord,
  gatewayJournalTopic,
  toJournalEntryOnTopic,
} from '@tollgate/gateway-api';
import type { PaymentIndex } from '@tollgate/lists';
import { compareReadModels as compare } from '@tollgate/projector';
import { accounts, teamNames } from '../people/teams.ts';
import type { World } from '../world.ts';
import { createMachine } from '../world/machine.ts';
import type { GatewayProcess } from '../world/process.ts';
import { createSimulatedStore } from '../world/simulated-store.ts';
import { type OperationOnRecord, isAwaited, isInReview, sumOf } from './books.ts';
import { isTaken, isUncertain, paymentsOf, payoutsOf, requireWallet } from './ledger.ts';

const patienceMs = 600_000;

/** Compares the views once, then each process's index, with a fold of the events from the start. */
export async function compareReadModels(world: World): Promise<void> {
  const { scheduler, random, complain } = world;
  // A separate reader without faults.
  const life = createMachine('check', scheduler, random.fork('check')).life();
  const store = createSimulatedStore(world, life);
  const { signal } = new AbortController();
  for (const { name, index } of [{ name: 'nobody', index: undefined }, ...serving(world)]) {
    const compared = await outcomeOf(world, compare({ store, signal, ...(index && { index }) }));
    const { differing = [], differingInIndex = [], failed = [] } = compared ?? {};
    if (differing.length > 0)
      complain('I8', `views differ from the fold of their events: ${differing.join()}`);
    if (differingInIndex.length > 0)
      complain('I8', `the index of ${name} differs from the events: ${differingInIndex.join()}`);
    if (failed.length > 0) complain('I8', `views were quarantined: ${failed.join()}`);
  }
  const entries = journalOnTopic(world);
  requireEntriesOfProvider(world, entries);
  for (const each of serving(world)) {
    requireOperations(world, each);
    requireSameJournal(world, entries, each);
    await compareWallets(world, each);
  }
}

type Serving = GatewayProcess & { name: string };

const serving = ({ machines }: World): Serving[] =>
  machines.flatMap(({ name, process }) => (process === undefined ? [] : [{ name, ...process }]));

/** The outcome of a promise, in simulated time. */
async function outcomeOf<Value>({ scheduler, complain }: World, promise: Promise<Value>) {
  const settled: PromiseSettledResult<Value>[] = [];
  void Promise.allSettled([promise]).then(([outcome]) => settled.push(outcome));
  await scheduler.runUntil(scheduler.now() + patienceMs, () => settled.length > 0);
  const [outcome] = settled;
  if (outcome?.status === 'fulfilled') return outcome.value;
  complain('I8', `a read model cannot be compared: ${String(outcome?.reason ?? 'it took too long')}`);
  return undefined;
}

/** Checks against the books, which do not use the gateway's own fold. */
function requireOperations({ books, complain }: World, { name, index }: Serving): void {
  for (const { token, kind, phase, amount } of books.all()) {
    const shown = kind === 'payment' ? index.find(token)?.payment : index.findPayout(token)?.payout;
    if (shown?.phase !== phase)
      complain(
        'I8',
        `the index of ${name} shows ${token} as ${shown?.phase ?? 'nothing'}, and it is ${phase}`,
      );
    if (kind === 'payout' && shown?.terms.amount !== amount)
      complain('I8', `the index of ${name} shows ${token} over ${shown?.terms.amount}, and it is ${amount}`);
  }
}

/** Every wallet, according to an index that has caught up. */
async function compareWallets(world: World, { name, index }: Serving): Promise<void> {
  // Operations lost by a restore are in no wallet.
  if (world.isRestored()) return;
  for (const wallet of new Set(world.books.all().map((each) => each.wallet))) {
    const query = { environment: 'sandbox' as const, currency: 'EUR', wallet, commands: [], spent: [] };
    const read = await outcomeOf(world, index.readLedger(query));
    for (const account of accounts)
      requireWallet(world, { wallet, account }, Number(read?.byAccount.get(account)?.available ?? 0), name);
  }
}

/** I7, I15. */
function journalOnTopic({ broker, complain }: World): JournalEntryOnTopic[] {
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
function requireSameJournal(
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
function requireEntriesOfProvider(world: World, entries: readonly JournalEntryOnTopic[]): void {
  if (world.isRestored()) return;
  const byToken = Map.groupBy(entries, ({ token }) => token);
  for (const operation of world.books.all()) {
    if (isInReview(operation) || isAwaited(operation) || operation.isMisjudged) continue;
    if (isUncertain(world, operation)) continue;
    const own = byToken.get(operation.token) ?? [];
    const amounts = seesDisputes(world, operation) ? undefined : ['taken', 'refunds', 'paidOut'];
    const here = JSON.stringify(amountsOf(own), amounts);
    const there = JSON.stringify(amountsAt(world, operation), amounts);
    world.saw('the entries of an operation were compared');
    if (here !== there)
      world.complain('I8', `the journal has ${here} of ${operation.token}, and the provider ${there}`);
  }
}

/** After a revised amount, a dispute may exceed the payment. Our books count at most the amount that the payment had then. */
const seesDisputes = (world: World, operation: OperationOnRecord): boolean =>
  !world.faults.isBare &&
  world.faults.showsDisputedPayments &&
  paymentsOf(world, operation).every(({ token, amount }) =>
    world.ledger.disputes.every((dispute) => dispute.payment !== token || dispute.amount <= amount),
  );

/** Amounts according to the entries of one payment or payout. */
function amountsOf(entries: readonly JournalEntryOnTopic[]) {
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
    disputed: posted('disputed'),
    lost: posted('lost'),
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
    taken: sumOf(taken, (each) => each.amount - each.refundedAmount),
    refunds: inOrder(refunds.map(({ amount }) => amount)),
    paidOut: sumOf(payoutsOf(world, operation).filter(({ status }) => status === 'approved')),
    disputed: disputedAs('pending'),
    lost: disputedAs('approved'),
  };
}

const inOrder = (amounts: readonly number[]): number[] =>
  amounts.filter((amount) => amount !== 0).toSorted((a, b) => a - b);

export function createIndexChecks({ complain }: World) {
  /** Ordered by position. */
  const changes: { token: string; position: string }[] = [];
  /** How many of the events each process's index has been seen to contain. */
  const seen = new WeakMap<GatewayProcess, number>();
  return {
    onRecorded: ({ position }: RecordedEvent, operation: OperationOnRecord | undefined): void => {
      if (operation !== undefined) changes.push({ token: operation.token, position });
    },
    /** Called when this process's index may have advanced, before any other reader. */
    onTaken: (process: GatewayProcess, name: string): void => {
      const { index } = process;
      const reached = index.position();
      const from = seen.get(process) ?? 0;
      const count = changes.slice(from).findIndex(({ position }) => position > reached);
      const passed = changes.slice(from, count === -1 ? undefined : from + count);
      seen.set(process, from + passed.length);
      for (const [token, position] of new Map(passed.map((each) => [each.token, each.position]))) {
        const shown = (index.find(token) ?? index.findPayout(token))?.position ?? '';
        if (shown < position)
          complain('I8', `the index of ${name} is at ${reached}, and has ${token} as of '${shown}'`);
      }
    },
  };
}
