/**
 * The positions of the teams, and the reservation of payouts against them. What a team took, gave back and paid out comes
 * from its payments and payouts themselves; only what is decided and not announced yet is kept beside them, in the last
 * event of one stream per wallet and currency.
 */
import { type EventStore, notShown, readLast } from '@tollgate/event-store';
import {
  type Environment,
  type EventMetadata,
  firstSchemaVersion,
  type Requester,
  type Wallet,
  type Cause,
  createKeyedMutex,
  type Guard,
  type QuietPeriods,
} from '@tollgate/core';
import { type Clock, type Ids, TollgateError } from '@tollgate/service-kit';
import type { TeamDirectory } from '@tollgate/teams';
import type { CurrentPositionQuery, CurrentPositions, PositionSums } from '@tollgate/views';
import { z } from 'zod';
import {
  type Reservation,
  type ReservationDecision,
  type WalletNow,
  availableIn,
  exceeds,
  requireCovered,
  reservationSchema,
  reservationsMax,
  reserve,
  standing,
} from './payout-reservations.ts';

export interface PositionsDependencies {
  store: EventStore;
  index: { currentPositions(query: CurrentPositionQuery): Promise<CurrentPositions> };
  directory: Pick<TeamDirectory, 'teamsSharing'>;
  quietPeriods: Pick<QuietPeriods, 'hasLapsed'>;
  clock: Clock;
  ids: Ids;
}

type Owner = Pick<Requester, 'environment' | 'team' | 'wallet'>;
type Bounded = Exclude<Wallet, { kind: 'provider' }>;

export interface Positions {
  /** What is left to this payout of each account; undefined where nothing of ours bounds the team. @throws as `reserve` */
  availableTo(
    payoutToken: string,
    owner: Owner,
    currency: string,
  ): Promise<((account: string) => bigint) | undefined>;
  /** The sums over all accounts; undefined as above. @throws as `reserve` */
  balance(owner: Owner, currency: string): Promise<PositionSums | undefined>;
  /**
   * Reserves the amount of a payout that is announced next, or says why it may not be. A team whose payouts nothing of ours
   * bounds reserves nothing.
   *
   * @throws TollgateError, retryable: `index_rebuilding` while what is available is not known; StoreUnavailable
   */
  reserve(owner: Owner, wanted: Reservation & { currency: string }, cause: Cause): Promise<Reserved>;
  /**
   * Says why a payout that was recorded when it was asked for, and is announced next, may not be sent any more: what was
   * taken then may have gone back since. @throws as `reserve`
   */
  requireCovered(
    owner: Owner,
    recorded: Pick<Reservation, 'account' | 'amount'> & { currency: string },
    cause: Cause,
  ): Promise<Reserved>;
}

type Reserved = Exclude<ReservationDecision, { kind: 'reserved' }> | { kind: 'reserved' };

const reservedEventType = 'PayoutsReserved';
const reservedSchema = z.object({ reservations: z.array(reservationSchema) });

/** Each lost try means that a payout of another process was reserved. */
const triesMax = 100;

const streamOf = (environment: Environment, wallet: Bounded, team: string, currency: string): string =>
  `position-${environment}-${currency}-${wallet.kind === 'own' ? `team-${team}` : `wallet-${wallet.name}`}`;

export function createPositions(deps: PositionsDependencies): Positions {
  const mutex = createKeyedMutex();

  /** Nothing is decided where nothing of ours bounds the team. */
  async function decideInTurn(
    owner: Owner,
    deciding: Pick<Deciding, 'currency' | 'cause' | 'payouts'>,
    decide: Deciding['decide'],
  ): Promise<Reserved> {
    const { currency } = deciding;
    const wallet = boundedWalletOf(owner);
    if (wallet === undefined) return { kind: 'unchanged' };
    const stream = streamOf(owner.environment, wallet, owner.team, currency);
    return mutex.run(stream, () => decideIn(deps, { ...deciding, stream, owner, wallet, decide }));
  }

  return {
    async availableTo(payoutToken, owner, currency) {
      const wallet = boundedWalletOf(owner);
      if (wallet === undefined) return undefined;
      const { reservations } = await readReservations(
        deps,
        streamOf(owner.environment, wallet, owner.team, currency),
      );
      const others = reservations.filter(({ token }) => token !== payoutToken);
      const now = await readWallet(deps, { owner, wallet, currency }, { reservations: others });
      return (account) => availableIn(account, others, now);
    },
    async balance(owner, currency) {
      const wallet = boundedWalletOf(owner);
      if (wallet === undefined) return undefined;
      const { reservations } = await readReservations(
        deps,
        streamOf(owner.environment, wallet, owner.team, currency),
      );
      const now = await readWallet(deps, { owner, wallet, currency }, { reservations });
      return sumOf(now, reservations);
    },
    reserve: (owner, wanted, cause) =>
      decideInTurn(
        owner,
        { currency: wanted.currency, cause, payouts: [wanted.token] },
        (reservations, now) => reserve(reservations, wanted, now),
      ),
    requireCovered: (owner, recorded, cause) =>
      decideInTurn(owner, { currency: recorded.currency, cause, payouts: [] }, (reservations, now) =>
        requireCovered(reservations, recorded, now),
      ),
  };
}

/** The balance as a guard of payouts. */
export const createBalanceGuard = (positions: Positions): Guard => ({
  async check({ operation, caller, cause, recordedAt, ...command }) {
    if (operation !== 'payout') return { kind: 'passed' };
    const { token, account, amount, currency, fingerprint, lapsesAt } = command;
    // Money that was there when a payout was recorded may have gone back while it waited for approval.
    const reserved = await (recordedAt === undefined
      ? positions.reserve(caller, { token, account, amount, currency, fingerprint, lapsesAt }, cause)
      : positions.requireCovered(caller, { account, amount, currency }, cause));
    // A reservation lapses by itself, and joins others of its token: nothing is released.
    return reserved.kind === 'refused' ? reserved : { kind: 'passed' };
  },
  /** Of several accounts those in which the team has enough: one alone is asked by the reservation. */
  async accountsFor({ operation, caller, token, amount, currency, accounts }) {
    if (operation !== 'payout' || accounts.length < 2) return accounts;
    const available = await positions.availableTo(token, caller, currency);
    if (available === undefined) return accounts;
    const able = accounts.filter((name) => available(name) >= BigInt(amount));
    if (able.length > 0) return able;
    const most = accounts.map(available).reduce((one, other) => (other > one ? other : one));
    return { kind: 'refused', refusal: exceeds(most, currency) };
  },
});

const boundedWalletOf = ({ wallet }: Owner): Bounded | undefined =>
  wallet.kind === 'provider' ? undefined : wallet;

interface Deciding {
  stream: string;
  owner: Owner;
  wallet: Bounded;
  currency: string;
  cause: Cause;
  /** Those of which it must be known whether they are recorded, beside the reserved ones. */
  payouts: readonly string[];
  decide(reservations: readonly Reservation[], now: WalletNow): ReservationDecision;
}

/**
 * The wallet is read after its reservations: what was taken off the list had been recorded before, and so is in the wallet;
 * what is put on it since meets the expected revision.
 */
async function decideIn(
  deps: PositionsDependencies,
  { stream, cause, payouts, decide, ...of }: Deciding,
): Promise<Reserved> {
  for (let tryNumber = 1; tryNumber <= triesMax; tryNumber += 1) {
    const { revision, reservations } = await readReservations(deps, stream);
    const now = await readWallet(deps, of, { reservations, payouts });
    const decision = decide(reservations, now);
    if (decision.kind !== 'reserved') return decision;
    if (decision.reservations.length > reservationsMax) throw contended(stream);
    const event = newEvent(deps, decision.reservations, cause);
    const answer = await deps.store.append(stream, [event], revision, { keepLast: 1 });
    if (answer.kind === 'appended') return { kind: 'reserved' };
    if (answer.actual === revision) throw notShown(stream);
  }
  throw contended(stream);
}

const contended = (stream: string): TollgateError =>
  new TollgateError('stream_contended', `Too many payouts are reserved in ${stream} at once.`, {
    retryable: true,
  });

function newEvent({ ids, clock }: PositionsDependencies, reservations: readonly Reservation[], cause: Cause) {
  const metadata: EventMetadata = { schemaVersion: firstSchemaVersion, ...cause, recordedAt: clock.now() };
  return { id: ids.uuid(), type: reservedEventType, data: { reservations }, metadata };
}

async function readReservations({ store }: PositionsDependencies, stream: string) {
  const last = await readLast(store, stream);
  if (last === undefined) return { revision: 'no-stream' as const, reservations: [] };
  return { revision: last.revision, ...reservedSchema.parse(last.data) };
}

async function readWallet(
  { index, directory, quietPeriods }: PositionsDependencies,
  { owner: { environment, team }, wallet, currency }: Pick<Deciding, 'owner' | 'wallet' | 'currency'>,
  { reservations, payouts = [] }: { reservations: readonly Reservation[]; payouts?: readonly string[] },
): Promise<WalletNow> {
  const reserved = reservations.map(({ token }) => token);
  const teams = wallet.kind === 'own' ? [team] : directory.teamsSharing(wallet.name);
  const current = await index.currentPositions({
    environment,
    teams,
    currency,
    payouts: [...payouts, ...reserved],
  });
  const lapsed = reservations.filter(({ token, lapsesAt }) => quietPeriods.hasLapsed(token, lapsesAt));
  return { ...current, lapsed: new Set(lapsed.map(({ token }) => token)) };
}

function sumOf(wallet: WalletNow, reservations: readonly Reservation[]): PositionSums {
  const reserved = standing(reservations, wallet).reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  let [available, hold] = [-reserved, reserved];
  for (const each of wallet.byAccount.values()) {
    available += each.available;
    hold += each.hold;
  }
  return { available, hold };
}
