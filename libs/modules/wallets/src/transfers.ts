/** An operator moves money between two wallets of one merchant account and currency. Nothing else does. */
import { type Cause, deriveToken, type EventMetadata, type GuardRefusal } from '@tollgate/core';
import { readLast, firstSchemaVersion } from '@tollgate/event-store';
import { canonicalJson, utcDayOf } from '@tollgate/service-kit';
import { decodeTransferEvent, type Transfer, transferStream } from '@tollgate/books';
import { type Reservation, reserve } from './reservations.ts';
import { availableCap } from './balance-and-limit-guard.ts';
import type { WalletReservations, WalletReservationsDependencies } from './wallet-reservations.ts';

export type TransferResult =
  | { kind: 'transferred'; token: string; replayed: boolean }
  | { kind: 'refused'; token: string; refusal: GuardRefusal | { code: 'idempotency_key_reused' } };

export interface TransferDependencies extends Pick<
  WalletReservationsDependencies,
  'store' | 'clock' | 'ids'
> {
  /** As `nameOfInstallation` returns it. */
  installation: string;
  reservations: WalletReservations;
}

/**
 * A repeat under the same key moves nothing. The amount is reserved first; if a process dies before it records the transfer,
 * the amount stays reserved until the transfer is repeated under its key.
 *
 * @throws TollgateError, retryable: `index_rebuilding`, `stream_contended`; StoreUnavailable
 */
export async function transferMoney(
  deps: TransferDependencies,
  { key, transfer, cause }: { key: string; transfer: Transfer; cause: Cause },
): Promise<TransferResult> {
  const { installation, reservations, store } = deps;
  const { environment, currency, account, from } = transfer;
  const token = deriveToken('tr', [installation, environment, 'transfer', key]);
  const known = await findTransfer(deps, token);
  if (known !== undefined) return replay(token, known, transfer);
  const wanted = toReservation(token, transfer, deps.clock.now());
  const reserved = await reservations.decide(
    { environment, currency, wallet: from },
    { commands: [wanted], spent: [], cause },
    ({ ledger, open }) =>
      ledger.recorded.has(token)
        ? { kind: 'unchanged' }
        : reserve(open, wanted, [availableCap(ledger, account, currency, 'transfer_exceeds_balance')]),
  );
  if (reserved.kind === 'refused') return { ...reserved, token };
  const metadata: EventMetadata = {
    schemaVersion: firstSchemaVersion,
    ...cause,
    recordedAt: deps.clock.now(),
  };
  const event = { id: deps.ids.uuid(), type: 'WalletTransferred', data: transfer, metadata };
  const answer = await store.append(transferStream(token), [event], 'no-stream');
  if (answer.kind === 'appended') return { kind: 'transferred', token, replayed: false };
  return replay(token, await findTransfer(deps, token), transfer);
}

async function findTransfer(
  { store }: Pick<TransferDependencies, 'store'>,
  token: string,
): Promise<Transfer | undefined> {
  const recorded = await readLast(store, transferStream(token));
  return recorded && decodeTransferEvent(recorded).data;
}

const replay = (token: string, known: Transfer | undefined, wanted: Transfer): TransferResult =>
  known !== undefined && canonicalJson(known) === canonicalJson(wanted)
    ? { kind: 'transferred', token, replayed: true }
    : { kind: 'refused', token, refusal: { code: 'idempotency_key_reused' } };

const toReservation = (token: string, transfer: Transfer, now: number): Reservation => ({
  token,
  subject: token,
  operation: 'transfer',
  team: '',
  keyId: '',
  account: transfer.account,
  amount: transfer.amount,
  day: utcDayOf(now),
  fingerprint: canonicalJson(transfer),
});
