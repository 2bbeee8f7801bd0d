/**
 * The gateway is down for days while the service runs, or its store is lost and replaced by a backup a few minutes old, following
 * docs/operator/backup-and-restore.md. Teams are then locked out until the day has been reconciled, and pending approvals are
 * void. Reconciliation finds the calls that the backup lacks, or a person resolves a review.
 */
import { payoutStream } from '@tollgate/core';
import type { RecordedEvent } from '@tollgate/event-store';
import { type Caller, type CallerOf, isSuccess, post } from '../people/front-door.ts';
import { accounts } from '../people/teams.ts';
import type { World } from '../world.ts';
import { epochMs } from '../world/machine.ts';
import { createIds } from '../world/random.ts';
import { anyRevisable, revise } from './disasters.ts';

const dayMs = 86_400_000;

/** Today plus a number of days, in UTC. */
export const dayOf = ({ scheduler }: World, days = 0): string =>
  new Date(epochMs + scheduler.now() + days * dayMs).toISOString().slice(0, 10);

export async function outageOfDays(world: World, callerOf: CallerOf): Promise<void> {
  const { scheduler, trace, ledger } = world;
  const random = world.random.fork('outage');
  const durationMs = random.between(0.5, 25) * dayMs;
  const lastDay = dayOf(world);
  trace.log(`nothing runs for ${(durationMs / dayMs).toFixed(1)} days`);
  world.saw('nothing ran for days');
  world.isOutage = () => true;
  for (const machine of world.machines) machine.crash();
  for (const afterMs of [0.2, 0.5, 0.9])
    scheduler.after(afterMs * durationMs, 'the service resumes', () => {
      for (const payment of ledger.payments) if (random.chance(0.5)) ledger.expire(payment);
      if (random.chance(0.5)) revise(world, anyRevisable(world, random));
    });
  await scheduler.runUntil(scheduler.now() + durationMs, world.hasFailed);
  world.isOutage = () => false;
  bootAll(world);
  // A person must request reconciliation of the days before an account's first reconciliation.
  const reports = world.log.all().filter(({ type }) => type === 'ReconciliationReported');
  const reconciled = new Set(reports.map(({ data }) => (data as { account?: string }).account));
  for (const account of accounts)
    if (!reconciled.has(account)) void askFor(callerOf(`outage ${account}`), account, lastDay);
}

async function askFor(caller: Caller, account: string, day: string): Promise<void> {
  caller.trace.log(`a person asks for the reconciliation of ${account} on ${day}`);
  const body = { environment: 'sandbox', account, day, isDryRun: false };
  const request = post('operator', 'admin/reconciliations', body);
  while (!isSuccess(await caller.request(request))) await caller.sleep(5_000);
}

/** Makes a backup during normal traffic. @returns a function that restores it */
export function makeBackup(world: World, safetyMs: number): (callerOf: CallerOf) => void {
  const random = world.random.fork('backup');
  const { log, scheduler, trace } = world;
  let restore = log.backup();
  scheduler.after(random.between(0.1, 1) * safetyMs, 'a backup is made', () => {
    trace.log('a backup is made');
    restore = log.backup();
  });
  return (callerOf) => {
    putInPlace(world, restore);
    world.begin('the comparison after which teams are let in', compareDay(callerOf('restore')));
  };
}

function putInPlace(world: World, restore: () => void): void {
  const { trace } = world;
  trace.log('the store is lost, and the backup takes its place');
  world.saw('a backup was restored');
  for (const machine of world.machines) machine.crash();
  restore();
  world.beginAnew();
  voidApprovals(world);
  bootAll(world);
}

function bootAll({ machines, boot }: World): void {
  for (const machine of machines) {
    machine.boot();
    boot(machine);
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
    log.append(payoutStream(token), { events: [event], expected: 'any' });
  }
}

/** Ends when the reconciliations that a person requests are reported. */
async function compareDay(caller: Caller): Promise<void> {
  const { log } = caller;
  const from = log.all().length;
  for (const account of accounts) await askFor(caller, account, dayOf(caller));
  const isReport = ({ type, data }: RecordedEvent): boolean =>
    type === 'ReconciliationReported' && (data as { by?: string }).by === 'person';
  while (log.all().slice(from).filter(isReport).length < accounts.length) await caller.sleep(5_000);
}
