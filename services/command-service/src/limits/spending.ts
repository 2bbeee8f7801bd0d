/**
 * The limits of teams and keys: an amount per call, and a sum per day in UTC. What counts on a day is what was asked for
 * on it and has not come to nothing; it is reserved before it is announced, in a stream for each limit and day. Where a
 * request would pass the sum, what has come to nothing meanwhile is released first, by the outcome of each.
 */
import { type EventStore, type Revision, createRecentlyUsed, notShown } from '@tollgate/event-store';
import { type EventMetadata, firstSchemaVersion } from '@tollgate/payment-domain';
import { type Clock, type Ids, TollgateError } from '@tollgate/service-kit';
import type { Caller, LimitedOperation, MoneyLimit } from '@tollgate/teams';
import { dayOf } from '@tollgate/views';
import type { Cause } from '../aggregates/repository.ts';
import { createTurns } from '../turns.ts';
import { type SpendingOutcomes, outcomeOf } from './spending-outcome.ts';
import {
  type AmountReserved,
  type SpendingDay,
  createSpendingDay,
  spendingEventSchemas,
} from './spending-day.ts';

export interface LimitRefusal {
  code: 'amount_limit_exceeded' | 'daily_limit_exceeded';
  /** Whose limit it is. */
  of: 'team' | 'key';
  operation: LimitedOperation;
  currency: string;
  /** Minor units. */
  limit: number;
  /** What is left of the day, and when it ends, milliseconds since the Unix epoch. */
  left?: { amount: number; until: number };
}

interface SpendingWanted extends AmountReserved {
  operation: LimitedOperation;
  currency: string;
}

export interface Spending {
  /** Whether any limit is about these: where none is, nothing else here need be asked. */
  isLimited(caller: Pick<Caller, 'limits'>, operation: LimitedOperation, currency: string): boolean;
  /** Reserves the amount, or says which limit it would pass. @throws StoreUnavailable */
  reserve(caller: Caller, wanted: SpendingWanted, cause: Cause): Promise<LimitRefusal | undefined>;
  /** Gives back what was reserved for something that was not announced. @throws StoreUnavailable */
  release(caller: Caller, wanted: SpendingWanted, cause: Cause): Promise<void>;
}

export type SpendingDependencies = { store: EventStore; clock: Clock; ids: Ids } & SpendingOutcomes;

const dayMs = 86_400_000;
/** Of one request, so that a team at its limit does not make the others slow. */
const lookedAtMax = 200;
const triesMax = 100;
const daysRememberedMax = 1_000;

interface Ledger {
  day: SpendingDay;
  revision: Revision | 'no-stream';
}

export function createSpending(deps: SpendingDependencies): Spending {
  const turns = createTurns();
  const ledgers = createRecentlyUsed<Ledger>(daysRememberedMax);
  const ledgerOf = (stream: string): Ledger => {
    const ledger = ledgers.get(stream) ?? { day: createSpendingDay(), revision: 'no-stream' };
    ledgers.set(stream, ledger);
    return ledger;
  };

  const release = (stream: string, tokens: readonly string[], cause: Cause) =>
    turns.take(stream, () => releaseIn(deps, stream, ledgerOf(stream), { tokens, cause }));

  return {
    isLimited: (caller, operation, currency) => limitsOf(caller, operation, currency).length > 0,
    async reserve(caller, wanted, cause) {
      const limits = limitsOf(caller, wanted.operation, wanted.currency);
      const over = limits.find(({ perCall }) => perCall !== null && wanted.amount > perCall);
      if (over !== undefined) return refusalOf('amount_limit_exceeded', over, over.perCall ?? 0);
      const reserved: string[] = [];
      for (const limit of limits) {
        if (limit.perDay === null) continue;
        const { perDay } = limit;
        const stream = streamOf(caller, limit, deps.clock.now());
        const left = await turns.take(stream, () =>
          reserveIn(deps, stream, ledgerOf(stream), { wanted, perDay, cause }),
        );
        if (left === undefined) reserved.push(stream);
        else {
          for (const each of reserved) await release(each, [wanted.token], cause);
          const until = (Math.floor(deps.clock.now() / dayMs) + 1) * dayMs;
          return { ...refusalOf('daily_limit_exceeded', limit, perDay), left: { amount: left, until } };
        }
      }
      return undefined;
    },
    async release(caller, wanted, cause) {
      for (const limit of limitsOf(caller, wanted.operation, wanted.currency))
        if (limit.perDay !== null)
          await release(streamOf(caller, limit, deps.clock.now()), [wanted.token], cause);
    },
  };
}

const limitsOf = (
  { limits = [] }: Pick<Caller, 'limits'>,
  operation: LimitedOperation,
  currency: string,
): MoneyLimit[] => limits.filter((each) => each.operation === operation && each.currency === currency);

const refusalOf = (
  code: LimitRefusal['code'],
  { keyId, operation, currency }: MoneyLimit,
  limit: number,
): LimitRefusal => ({ code, of: keyId === undefined ? 'team' : 'key', operation, currency, limit });

/** Names have no dots. */
const streamOf = (
  { environment, team }: Caller,
  { keyId, operation, currency }: MoneyLimit,
  now: number,
): string =>
  [
    'spending',
    environment,
    team,
    keyId === undefined ? 'team' : `key-${keyId}`,
    operation,
    currency,
    dayOf(now),
  ].join('.');

/** @returns what is left of the day where that is not enough */
async function reserveIn(
  deps: SpendingDependencies,
  stream: string,
  ledger: Ledger,
  { wanted, perDay, cause }: { wanted: SpendingWanted; perDay: number; cause: Cause },
): Promise<number | undefined> {
  const { token, subject, amount, lapsesAt } = wanted;
  let isCurrent = false;
  for (let tryNumber = 1; tryNumber <= triesMax; tryNumber += 1) {
    const known = ledger.day.find(token);
    if (known !== undefined && known.amount >= amount && known.lapsesAt >= lapsesAt) return undefined;
    const left = BigInt(perDay) - ledger.day.used() + BigInt(known?.amount ?? 0);
    if (BigInt(amount) > left) {
      const isChanged = isCurrent
        ? await heal(deps, stream, ledger, cause)
        : await catchUp(deps, stream, ledger);
      if (isCurrent && !isChanged) return Number(left > 0n ? left : 0n);
      isCurrent = true;
      continue;
    }
    const data = { token, subject, amount, lapsesAt };
    if (await append(deps, stream, ledger, { type: 'AmountReserved', data, cause })) {
      ledger.day.reserve(data);
      return undefined;
    }
  }
  throw new TollgateError('stream_contended', `Too many requests reserve in ${stream} at once.`, {
    retryable: true,
  });
}

async function releaseIn(
  deps: SpendingDependencies,
  stream: string,
  ledger: Ledger,
  { tokens, cause }: { tokens: readonly string[]; cause: Cause },
): Promise<void> {
  for (let tryNumber = 1; tryNumber <= triesMax; tryNumber += 1) {
    const there = tokens.filter((token) => ledger.day.find(token) !== undefined);
    if (there.length === 0) return;
    if (!(await append(deps, stream, ledger, { type: 'AmountsReleased', data: { tokens: there }, cause })))
      continue;
    ledger.day.release(there);
    return;
  }
}

/** Releases what has come to nothing. @returns whether anything has, or others have changed the day */
async function heal(
  deps: SpendingDependencies,
  stream: string,
  ledger: Ledger,
  cause: Cause,
): Promise<boolean> {
  const [stay, end]: [string[], string[]] = [[], []];
  for (const entry of ledger.day.undecided(lookedAtMax)) {
    const outcome = await outcomeOf(deps, entry, deps.clock.now());
    if (outcome === 'stays') stay.push(entry.token);
    if (outcome === 'nothing') end.push(entry.token);
  }
  ledger.day.settle(stay);
  if (end.length === 0) return false;
  if (await append(deps, stream, ledger, { type: 'AmountsReleased', data: { tokens: end }, cause }))
    ledger.day.release(end);
  return true;
}

/** False where somebody was faster: what they have written is in the ledger then. */
async function append(
  deps: SpendingDependencies,
  stream: string,
  ledger: Ledger,
  { type, data, cause }: { type: keyof typeof spendingEventSchemas; data: object; cause: Cause },
): Promise<boolean> {
  const { store, ids, clock } = deps;
  const metadata: EventMetadata = { schemaVersion: firstSchemaVersion, ...cause, recordedAt: clock.now() };
  const answer = await store.append(stream, [{ id: ids.uuid(), type, data, metadata }], ledger.revision);
  if (answer.kind === 'appended') {
    ledger.revision = answer.revision;
    return true;
  }
  if (!(await catchUp(deps, stream, ledger))) throw notShown(stream);
  return false;
}

/** @returns whether others have written since */
async function catchUp({ store }: SpendingDependencies, stream: string, ledger: Ledger): Promise<boolean> {
  const { revision } = ledger;
  for await (const event of store.read(stream, { from: revision === 'no-stream' ? 0 : revision + 1 })) {
    if (event.type === 'AmountReserved')
      ledger.day.reserve(spendingEventSchemas.AmountReserved.parse(event.data));
    else ledger.day.release(spendingEventSchemas.AmountsReleased.parse(event.data).tokens);
    ledger.revision = event.revision;
  }
  return ledger.revision !== revision;
}
