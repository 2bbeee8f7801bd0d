/**
 * The store is lost and replaced by a backup a few minutes old, following docs/operator/backup-and-restore.md. Teams are locked
 * out until the day has been reconciled, and pending approvals are void. Calls announced since the backup are forgotten:
 * reconciliation finds them, or a person resolves a review.
 */
import type { CallerOf } from '../people/caller.ts';
import { accounts } from '../people/teams.ts';
import { payoutStream } from '@tollgate/core';
import { askFor, dayOf } from './outage.ts';
import { createIds } from '../world/random.ts';
import type { World } from '../world.ts';

export interface Restored {
  /** Steps of the restore that are not finished yet. */
  differences(): string[];
}

/** Makes a backup during normal traffic. @returns a function that restores it */
export function makeBackup(world: World, safetyMs: number): (callerOf: CallerOf) => Restored {
  const random = world.random.fork('backup');
  const { log, scheduler, trace } = world;
  let restore = log.backup();
  scheduler.after(random.between(0.1, 1) * safetyMs, 'a backup is made', () => {
    trace.tell('a backup is made');
    restore = log.backup();
  });
  return (callerOf) => {
    putInPlace(world, restore);
    const state = { isOver: false };
    void compareDay(world, callerOf).then(() => (state.isOver = true));
    return { differences: () => (state.isOver ? [] : ['teams are not let in yet']) };
  };
}

function putInPlace(world: World, restore: () => void): void {
  const { trace, machines } = world;
  trace.tell('the store is lost, and the backup takes its place');
  world.saw('a backup was restored');
  for (const running of machines) {
    running.machine.crash();
    running.process = undefined;
  }
  restore();
  world.beginAnew();
  voidApprovals(world);
  for (const running of machines) {
    running.machine.boot();
    world.boot(running);
  }
}

/** Same steps as `tollgate restore`. */
function voidApprovals({ log, books, random }: World): void {
  const { uuid } = createIds(random.fork('restore'));
  const actor = { kind: 'service', name: 'restore' };
  const metadata = { schemaVersion: 1, recordedAt: 0, correlationId: '', causationId: '', actor };
  for (const { token, phase } of books.all()) {
    if (phase !== 'awaiting_approval' && phase !== 'approval_granted') continue;
    const data = JSON.stringify({ reason: 'approval-lapsed' });
    const event = { id: uuid(), type: 'PayoutFailed', data, metadata: JSON.stringify(metadata) };
    log.append(payoutStream(token), [event], 'any');
  }
}

async function compareDay(world: World, callerOf: CallerOf): Promise<void> {
  const from = world.log.all().length;
  const caller = callerOf('restore');
  for (const account of accounts) await askFor(caller, account, dayOf(world));
  while (reportedSince(world, from) < accounts.length) await caller.sleep(5_000);
}

/** Reconciliations requested by a person. */
const reportedSince = ({ log }: World, from: number): number =>
  log
    .all()
    .slice(from)
    .filter(
      ({ type, data }) => type === 'ReconciliationReported' && (data as { by?: string }).by === 'person',
    ).length;
