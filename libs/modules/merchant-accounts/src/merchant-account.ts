/**
 * Operators' decisions about merchant accounts, in addition to the accounts file: which ones accept new payments, and which
 * are called at all. One stream for all accounts, because changes are rare.
 */
import { z } from 'zod';
import { type Decision, type Environment, environmentSchema, instantSchema } from '@tollgate/core';
import { type AccountState, merchantAccountKey } from '@tollgate/accounts';
import { eventFamily, type EventOf } from '@tollgate/event-store';

export const merchantAccountsStream = 'merchant-accounts';

const changeSchema = z.object({
  environment: environmentSchema,
  account: z.string(),
  reason: z.string(),
  changedBy: z.string(),
  changedAt: instantSchema,
});

const eventSchemas = {
  AccountPaused: changeSchema,
  AccountDrained: changeSchema,
  AccountResumed: changeSchema,
  /** A backup replaced the store, and events after `lastEventAt` are lost: every account is paused until it is resumed. */
  StoreRestored: z.object({
    restoredAt: instantSchema,
    lastEventAt: instantSchema,
    restoredBy: z.string(),
  }),
  /** Every process that calls accounts reads its accounts file again. */
  AccountsReloadRequested: z.object({ requestedAt: instantSchema }),
} as const;
export type MerchantAccountEvent = EventOf<typeof eventSchemas>;

export const { decode: decodeMerchantAccountEvent, versionOf: versionOfMerchantAccountEvent } =
  eventFamily(eventSchemas);

/** The last change of an account. */
export interface AccountChange {
  environment: Environment;
  account: string;
  state: AccountState;
  reason: string;
  changedBy: string;
  /** Milliseconds since the Unix epoch, by the clock of the process that decided. */
  changedAt: number;
}

export interface MerchantAccounts {
  /** By `merchantAccountKey`; since the last restore. */
  changes: ReadonlyMap<string, AccountChange>;
  restore?: StoreRestore;
}

export interface StoreRestore {
  restoredAt: number;
  lastEventAt: number;
  restoredBy: string;
}

export const noAccountChanges: MerchantAccounts = { changes: new Map() };

/** The last change of an account; a restore counts as one. */
export function accountChangeOf(
  { changes, restore }: MerchantAccounts,
  environment: Environment,
  account: string,
): AccountChange | undefined {
  const change = changes.get(merchantAccountKey(environment, account));
  if (change !== undefined || restore === undefined) return change;
  const { restoredAt: changedAt, restoredBy: changedBy } = restore;
  const reason = 'The event store was restored from a backup.';
  return { environment, account, state: 'paused', reason, changedBy, changedAt };
}

const stateAfter = { AccountPaused: 'paused', AccountDrained: 'draining', AccountResumed: 'active' } as const;
const eventTo = { paused: 'AccountPaused', draining: 'AccountDrained', active: 'AccountResumed' } as const;

/** After a restore, no call is made before the lost days are reconciled. */
export interface AccountRefusal {
  code: 'reconciliation_due';
  restore: StoreRestore;
}

/**
 * A change to the current state is recorded as well: an earlier change without an answer from the store may still take
 * effect, and would undo one that was acknowledged in between.
 *
 * @param isReconciled whether each day with lost events was compared completely after the restore, or an operator overrides
 */
export function decideAccountChange(
  { restore }: MerchantAccounts,
  { state, ...change }: AccountChange,
  isReconciled: (restore: StoreRestore) => boolean,
): Decision<MerchantAccountEvent, AccountRefusal> {
  if (state !== 'paused' && restore !== undefined && !isReconciled(restore))
    return { kind: 'refused', refusal: { code: 'reconciliation_due', restore } };
  return { kind: 'events', events: [{ type: eventTo[state], data: change }] };
}

export function evolveMerchantAccounts(
  accounts: MerchantAccounts,
  event: MerchantAccountEvent,
): MerchantAccounts {
  if (event.type === 'AccountsReloadRequested') return accounts;
  if (event.type === 'StoreRestored') return { changes: new Map(), restore: event.data };
  const { environment, account } = event.data;
  const change = { ...event.data, state: stateAfter[event.type] };
  const changes = new Map(accounts.changes).set(merchantAccountKey(environment, account), change);
  return { ...accounts, changes };
}
