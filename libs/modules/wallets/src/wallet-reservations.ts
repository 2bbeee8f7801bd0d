/**
 * The reservations of a wallet: the last event of one stream per wallet, environment and currency, with an expected revision.
 */
import { type EventStore, notShown, readLast, firstSchemaVersion } from '@tollgate/event-store';
import { type Cause, type EventMetadata, type QuietPeriods } from '@tollgate/core';
import { type Clock, type Ids, TollgateError, createKeyedMutex } from '@tollgate/service-kit';
import type { LedgerNow, LedgerQuery, WalletQuery } from '@tollgate/views';
import { z } from 'zod';
import {
  type Reservation,
  type ReservationDecision,
  reservationSchema,
  reservationsMax,
} from './reservations.ts';

export interface WalletReservationsDependencies {
  store: EventStore;
  index: { readLedger(query: LedgerQuery): Promise<LedgerNow> };
  quietPeriods: Pick<QuietPeriods, 'hasLapsed'>;
  clock: Clock;
  ids: Ids;
}

/** A wallet with its unrecorded reservations. */
export interface WalletNow {
  ledger: LedgerNow;
  open: readonly Reservation[];
}

export type WalletReservations = ReturnType<typeof createWalletReservations>;

interface DecisionInput extends Pick<LedgerQuery, 'commands' | 'spent'> {
  cause: Cause;
}
type Decide = (now: WalletNow) => ReservationDecision;
type Reserved = Exclude<ReservationDecision, { kind: 'reserved' }> | { kind: 'reserved' };

const eventType = 'AmountsReserved';
const eventSchema = z.object({ reservations: z.array(reservationSchema) });

/** Each lost try means that another process reserved an amount. */
const triesMax = 100;

const streamOf = ({ environment, currency, wallet }: WalletQuery): string =>
  `reservations-${environment}-${currency}-${wallet}`;

export function createWalletReservations(deps: WalletReservationsDependencies) {
  const mutex = createKeyedMutex();
  return {
    /** @throws TollgateError, retryable: `index_rebuilding` while the balances are not known; StoreUnavailable */
    async read(wallet: WalletQuery): Promise<WalletNow> {
      const { now } = await readWallet(deps, wallet, { commands: [], spent: [] });
      return now;
    },
    /**
     * Writes the reservations that `decide` returns, which is called again if another process has written meanwhile. An earlier
     * unwritten decision then conflicts with the revision. @throws as `read`
     */
    decide: (wallet: WalletQuery, about: DecisionInput, decide: Decide): Promise<Reserved> =>
      mutex.run(streamOf(wallet), () => decideIn(deps, wallet, about, decide)),
  };
}

async function decideIn(
  deps: WalletReservationsDependencies,
  wallet: WalletQuery,
  about: DecisionInput,
  decide: Decide,
): Promise<Reserved> {
  const stream = streamOf(wallet);
  for (let tryNumber = 1; tryNumber <= triesMax; tryNumber += 1) {
    const { revision, now } = await readWallet(deps, wallet, about);
    const decision = decide(now);
    if (decision.kind !== 'reserved') return decision;
    if (decision.reservations.length > reservationsMax) break;
    const event = newEvent(deps, decision.reservations, about.cause);
    const answer = await deps.store.append(stream, [event], revision, { keepLast: 1 });
    if (answer.kind === 'appended') return { kind: 'reserved' };
    if (answer.actual === revision) throw notShown(stream);
  }
  throw new TollgateError('stream_contended', `Too many amounts are reserved in ${stream} at once.`, {
    retryable: true,
  });
}

/**
 * Read the ledger after the reservations: an amount removed from them was recorded before, so the ledger has it. A reservation
 * added meanwhile conflicts with the expected revision.
 */
async function readWallet(
  { store, index, quietPeriods }: WalletReservationsDependencies,
  wallet: WalletQuery,
  { commands, spent }: Pick<LedgerQuery, 'commands' | 'spent'>,
) {
  const last = await readLast(store, streamOf(wallet));
  const { reservations } = last === undefined ? { reservations: [] } : eventSchema.parse(last.data);
  const ledger = await index.readLedger({
    ...wallet,
    commands: [...commands, ...reservations],
    spent,
  });
  const isOpen = ({ token, lapsesAt }: Reservation): boolean =>
    !ledger.recorded.has(token) && (lapsesAt === undefined || !quietPeriods.hasLapsed(token, lapsesAt));
  return {
    revision: last?.revision ?? ('no-stream' as const),
    now: { ledger, open: reservations.filter(isOpen) },
  };
}

function newEvent(
  { ids, clock }: WalletReservationsDependencies,
  reservations: readonly Reservation[],
  cause: Cause,
) {
  const metadata: EventMetadata = { schemaVersion: firstSchemaVersion, ...cause, recordedAt: clock.now() };
  return { id: ids.uuid(), type: eventType, data: { reservations }, metadata };
}
