/** Starts a new epoch after a restore: pauses all accounts and voids payouts that await approval. */
import { type EventStore, beginning } from '@tollgate/event-store';
import {
  type Cause,
  createPayouts,
  isBeforeAnnouncement,
  paymentStreamPrefix,
  payoutStreamPrefix,
} from '@tollgate/core';
import type { StoreRestore } from './merchant-account.ts';
import { type AccountChangeDependencies, recordRestore } from './change-account.ts';

/** @returns the restore, and the number of voided payouts */
export async function startEpoch(
  deps: AccountChangeDependencies,
  cause: Cause,
  signal: AbortSignal,
): Promise<StoreRestore & { voidedPayouts: number }> {
  const restoredAt = deps.clock.now();
  const { lastEventAt = restoredAt, payouts } = await readBooks(deps.store, signal);
  const restore = {
    restoredAt,
    lastEventAt,
    restoredBy: cause.actor.kind === 'person' ? cause.actor.name : '',
  };
  await recordRestore(deps, restore, cause);
  let voidedPayouts = 0;
  for (const token of payouts) if (await voidApproval(deps, token, cause)) voidedPayouts += 1;
  return { ...restore, voidedPayouts };
}

async function readBooks(store: EventStore, signal: AbortSignal) {
  const payouts = new Set<string>();
  let lastEventAt: number | undefined;
  const prefixes = [paymentStreamPrefix, payoutStreamPrefix];
  for await (const item of store.subscribe({ from: beginning, prefixes, signal })) {
    if (item.kind === 'caught-up') break;
    const { recordedAt } = Object(item.metadata) as { recordedAt?: number };
    lastEventAt = Math.max(lastEventAt ?? 0, recordedAt ?? 0);
    if (item.stream.startsWith(payoutStreamPrefix)) payouts.add(item.stream.slice(payoutStreamPrefix.length));
  }
  signal.throwIfAborted();
  return { lastEventAt, payouts };
}

/** It may have been approved and sent before the restore. */
async function voidApproval(deps: AccountChangeDependencies, token: string, cause: Cause): Promise<boolean> {
  const payouts = createPayouts(deps);
  const { payout } = (await payouts.load(token)) ?? {};
  if (payout === undefined || !isBeforeAnnouncement(payout)) return false;
  const at = payout.approval?.lapsesAt ?? deps.clock.now();
  await payouts.execute(token, { type: 'RecordApprovalLapsed', at }, cause);
  return true;
}
