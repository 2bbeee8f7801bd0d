/**
 * Pauses, drains, resumes and reloads merchant accounts: records the change in one stream, which every process follows. Operators
 * use `tollgate account` or the admin routes; `merchant-account.ts` decides.
 */
import { type Decision, type EventStore, decideAndAppend } from '@tollgate/event-store';
import {
  type AccountChange,
  type AccountRefusal,
  type MerchantAccountEvent,
  type MerchantAccounts,
  type StoreRestore,
  decideAccountChange,
  decodeMerchantAccountEvent,
  evolveMerchantAccounts,
  merchantAccountsStream,
  noAccountChanges,
  versionOfMerchantAccountEvent,
} from './merchant-account.ts';
import type { Cause, Environment, EventMetadata } from '@tollgate/core';
import { type Clock, type Ids, dayMs, utcDayOf } from '@tollgate/service-kit';

export interface AccountChangeDependencies {
  store: EventStore;
  clock: Clock;
  ids: Ids;
}

/** When the last complete reconciliation of an account's day began; undefined if there is none. */
export type LastReconciled = (
  environment: Environment,
  account: string,
) => Promise<(day: string) => number | undefined>;

/**
 * Records a change, even to the current state. Each process applies it once it has caught up.
 *
 * @param isOverridden skips the reconciliation that is due after a restore
 * @throws StoreUnavailable
 */
export async function changeAccount(
  deps: AccountChangeDependencies & { lastReconciled: LastReconciled },
  { isOverridden = false, ...change }: Omit<AccountChange, 'changedAt'> & { isOverridden?: boolean },
  cause: Cause,
): Promise<AccountRefusal | undefined> {
  const reconciledAt = await deps.lastReconciled(change.environment, change.account);
  const isReconciled = (restore: StoreRestore) =>
    isOverridden || daysToReconcile(restore).every((day) => (reconciledAt(day) ?? 0) >= restore.restoredAt);
  return append(deps, cause, (accounts) =>
    decideAccountChange(accounts, { ...change, changedAt: deps.clock.now() }, isReconciled),
  );
}

/** The days whose events a restore has lost, ascending, `YYYY-MM-DD` in UTC; at least one. */
export function daysToReconcile({ lastEventAt, restoredAt }: StoreRestore): string[] {
  const last = utcDayOf(restoredAt);
  const days = [];
  for (let at = Math.min(lastEventAt, restoredAt); utcDayOf(at) < last; at += dayMs) days.push(utcDayOf(at));
  return [...days, last];
}

/** Makes every process read its accounts file again. @throws as `changeAccount` */
export async function requestReload(deps: AccountChangeDependencies, cause: Cause): Promise<void> {
  const event = { type: 'AccountsReloadRequested', data: { requestedAt: deps.clock.now() } } as const;
  await append(deps, cause, () => ({ kind: 'events', events: [event] }));
}

export async function recordRestore(
  deps: AccountChangeDependencies,
  restore: StoreRestore,
  cause: Cause,
): Promise<void> {
  await append(deps, cause, () => ({ kind: 'events', events: [{ type: 'StoreRestored', data: restore }] }));
}

async function append(
  { store, clock, ids }: AccountChangeDependencies,
  cause: Cause,
  decide: (accounts: MerchantAccounts) => Decision<MerchantAccountEvent, AccountRefusal>,
): Promise<AccountRefusal | undefined> {
  const metadataOf = (event: MerchantAccountEvent): EventMetadata => ({
    ...cause,
    schemaVersion: versionOfMerchantAccountEvent(event),
    recordedAt: clock.now(),
  });
  const decided = await decideAndAppend<MerchantAccounts, MerchantAccountEvent, AccountRefusal>({
    store,
    stream: merchantAccountsStream,
    initial: noAccountChanges,
    decide,
    decode: decodeMerchantAccountEvent,
    evolve: evolveMerchantAccounts,
    toNewEvents: (events) =>
      events.map((event) => ({ id: ids.uuid(), ...event, metadata: metadataOf(event) })),
  });
  return decided.kind === 'refused' ? decided.refusal : undefined;
}
