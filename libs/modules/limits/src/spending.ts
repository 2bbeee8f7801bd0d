/**
 * The limits of teams and keys: an amount per call, and a sum per day in UTC. What counts on a day is what was asked for
 * on it and has not come to nothing; it is reserved before it is announced, in a stream for each limit and day. Where a
 * request would pass the sum, what has come to nothing meanwhile is released first, by the outcome of each.
 */
import { type EventStore, type Revision, createRecentlyUsed, notShown } from '@tollgate/event-store';
import {
  type EventMetadata,
  firstSchemaVersion,
  type Requester,
  type LimitedOperation,
  type MoneyLimit,
  type Cause,
  createKeyedMutex,
  type Guard,
  type GuardedCommand,
  type LimitRefusal,
  type Verdict,
  type QuietPeriods,
} from '@tollgate/core';
import { type Clock, type Ids, TollgateError, dayMs, utcDayOf } from '@tollgate/service-kit';
import { type SpendingOutcomes, outcomeOf } from './spending-outcome.ts';
import {
  type AmountReserved,
  type SpendingDay,
  createSpendingDay,
  spendingEventSchemas,
} from './spending-day.ts';

interface SpendingWanted extends AmountReserved {
  operation: LimitedOperation;
  currency: string;
  /** On whose day it counts, milliseconds since the Unix epoch, where it was asked for before. */
  askedAt?: number;
}

type SpendingReservation =
  | { kind: 'refused'; refusal: LimitRefusal }
  /** `giveBack` is for what is not announced after all; what others rely on as well stays. @throws StoreUnavailable */
  | { kind: 'reserved'; giveBack(): Promise<void> };

interface Spending {
  /** Whether any limit is about these: where none is, nothing else here need be asked. */
  isLimited(caller: Pick<Requester, 'limits'>, operation: LimitedOperation, currency: string): boolean;
  /** Reserves the amount, or says which limit it would pass. @throws StoreUnavailable */
  reserve(caller: Requester, wanted: SpendingWanted, cause: Cause): Promise<SpendingReservation>;
}

export interface SpendingDependencies extends SpendingOutcomes {
  store: EventStore;
  quietPeriods: Pick<QuietPeriods, 'hasLapsed'>;
  clock: Clock;
  ids: Ids;
}

/** What is reserved and not announced by then cannot be sent any more. */
const hasLapsed = (
  { quietPeriods }: Pick<SpendingDependencies, 'quietPeriods'>,
  { token, lapsesAt }: AmountReserved,
): boolean => quietPeriods.hasLapsed(token, lapsesAt);

/** Of one request, so that a team at its limit does not make the others slow. */
const lookedAtMax = 200;
const triesMax = 100;
const daysRememberedMax = 1_000;

interface Ledger {
  day: SpendingDay;
  revision: Revision | 'no-stream';
}

function createSpending(deps: SpendingDependencies): Spending {
  const mutex = createKeyedMutex();
  const ledgers = createRecentlyUsed<Ledger>(daysRememberedMax);
  const ledgerOf = (stream: string): Ledger => {
    const ledger = ledgers.get(stream) ?? { day: createSpendingDay(), revision: 'no-stream' };
    ledgers.set(stream, ledger);
    return ledger;
  };

  const giveBack = async (claims: readonly Claim[], cause: Cause) => {
    for (const { stream, ...claim } of claims)
      await mutex.run(stream, () => giveBackIn(deps, stream, ledgerOf(stream), { ...claim, cause }));
  };

  return {
    isLimited: (caller, operation, currency) => limitsOf(caller, operation, currency).length > 0,
    async reserve(caller, wanted, cause) {
      const limits = limitsOf(caller, wanted.operation, wanted.currency);
      const over = limits.find(({ perCall }) => perCall !== null && wanted.amount > perCall);
      if (over !== undefined) return refused(refusalOf('amount_limit_exceeded', over, over.perCall ?? 0));
      const claims: Claim[] = [];
      const now = wanted.askedAt ?? deps.clock.now();
      for (const limit of limits) {
        if (limit.perDay === null) continue;
        const { perDay } = limit;
        const stream = streamOf(caller, limit, now);
        const reserved = await mutex.run(stream, () =>
          reserveIn(deps, stream, ledgerOf(stream), { wanted, perDay, cause }),
        );
        if (reserved.kind === 'full') {
          await giveBack(claims, cause);
          const left = { amount: reserved.left, until: (Math.floor(now / dayMs) + 1) * dayMs };
          return refused({ ...refusalOf('daily_limit_exceeded', limit, perDay), left });
        }
        if (reserved.kind === 'first')
          claims.push({ stream, token: wanted.token, lapsesAt: reserved.lapsesAt });
      }
      return { kind: 'reserved', giveBack: () => giveBack(claims, cause) };
    },
  };
}

/** The limits as a guard. A team without a limit reserves nothing: no read and no append more. */
export const createSpendingGuard = (deps: SpendingDependencies): Guard => {
  const spending = createSpending(deps);
  return {
    async check(command) {
      const { caller, operation, currency, cause, recordedAt } = command;
      if (!spending.isLimited(caller, operation, currency)) return { kind: 'passed' };
      if (recordedAt !== undefined) return checkRecorded(spending, command, recordedAt);
      const reserved = await spending.reserve(caller, command, cause);
      return reserved.kind === 'refused' ? reserved : { kind: 'reserved', release: reserved.giveBack };
    },
  };
};

/** A payout that was approved counts on the day that it was asked for. If others have used that up, it counts on this one. */
async function checkRecorded(
  spending: Spending,
  { caller, cause, ...wanted }: GuardedCommand,
  askedAt: number,
): Promise<Verdict> {
  const asked = await spending.reserve(caller, { ...wanted, askedAt }, cause);
  const counted = asked.kind === 'refused' ? await spending.reserve(caller, wanted, cause) : asked;
  return counted.kind === 'refused' ? counted : { kind: 'passed' };
}

/** What a request was the first to reserve. */
interface Claim extends Pick<AmountReserved, 'token' | 'lapsesAt'> {
  stream: string;
}

const refused = (refusal: LimitRefusal): SpendingReservation => ({ kind: 'refused', refusal });

const limitsOf = (
  { limits = [] }: Pick<Requester, 'limits'>,
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
  { environment, team }: Requester,
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
    utcDayOf(now),
  ].join('.');

type Reserved =
  | { kind: 'first'; lapsesAt: number }
  /** Another request under the same key had reserved, and may be announced yet. */
  | { kind: 'joined' }
  | { kind: 'full'; left: number };

async function reserveIn(
  deps: SpendingDependencies,
  stream: string,
  ledger: Ledger,
  { wanted, perDay, cause }: { wanted: SpendingWanted; perDay: number; cause: Cause },
): Promise<Reserved> {
  const { token, amount } = wanted;
  let isCurrent = false;
  for (let tryNumber = 1; tryNumber <= triesMax; tryNumber += 1) {
    const known = ledger.day.find(token);
    const left = BigInt(perDay) - ledger.day.used() + BigInt(known?.amount ?? 0);
    if (BigInt(amount) > left) {
      const isChanged = isCurrent
        ? await heal(deps, stream, ledger, cause)
        : await catchUp(deps, stream, ledger);
      if (isCurrent && !isChanged) return { kind: 'full', left: Number(left > 0n ? left : 0n) };
      isCurrent = true;
      continue;
    }
    const other = known === undefined || hasLapsed(deps, known) ? undefined : known;
    const data = entryBeside(other, wanted);
    if (await append(deps, stream, ledger, { type: 'AmountReserved', data, cause })) {
      ledger.day.reserve(data);
      return other === undefined ? { kind: 'first', lapsesAt: data.lapsesAt } : { kind: 'joined' };
    }
  }
  throw new TollgateError('stream_contended', `Too many requests reserve in ${stream} at once.`, {
    retryable: true,
  });
}

/**
 * Which of several requests under one key is announced is not known yet, so the greater amount counts. A later end tells the
 * first one that it is not alone.
 */
function entryBeside(
  other: AmountReserved | undefined,
  { token, subject, amount, lapsesAt }: SpendingWanted,
): AmountReserved {
  if (other === undefined) return { token, subject, amount, lapsesAt };
  return {
    token,
    subject,
    amount: Math.max(amount, other.amount),
    lapsesAt: Math.max(lapsesAt, other.lapsesAt + 1),
  };
}

/** Only as long as nobody else has joined: what several rely on lapses by itself. */
async function giveBackIn(
  deps: SpendingDependencies,
  stream: string,
  ledger: Ledger,
  { token, lapsesAt, cause }: { token: string; lapsesAt: number; cause: Cause },
): Promise<void> {
  for (let tryNumber = 1; tryNumber <= triesMax; tryNumber += 1) {
    if (ledger.day.find(token)?.lapsesAt !== lapsesAt) return;
    const data = { tokens: [token] };
    if (!(await append(deps, stream, ledger, { type: 'AmountsReleased', data, cause }))) continue;
    ledger.day.release([token]);
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
    const outcome = await outcomeOf(deps, entry, hasLapsed(deps, entry));
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
