/** The whole gateway is down for days while the service runs. Callbacks fail and are not repeated. */
import { type Caller, type CallerOf, isSuccess, post } from '../people/caller.ts';
import { accounts } from '../people/teams.ts';
import { revise } from './disasters.ts';
import { epochMs } from '../world/machine.ts';
import type { World } from '../world.ts';

const dayMs = 86_400_000;

/** Today plus a number of days, in UTC. */
export const dayOf = ({ scheduler }: World, days = 0): string =>
  new Date(epochMs + scheduler.now() + days * dayMs).toISOString().slice(0, 10);

export async function outageOfDays(world: World, callerOf: CallerOf): Promise<void> {
  const { scheduler, trace, machines, ledger } = world;
  const random = world.random.fork('outage');
  const durationMs = random.between(0.5, 25) * dayMs;
  const lastDay = dayOf(world);
  trace.tell(`nothing runs for ${(durationMs / dayMs).toFixed(1)} days`);
  world.saw('nothing ran for days');
  world.isOutage = () => true;
  for (const running of machines) {
    running.machine.crash();
    running.process = undefined;
  }
  for (const afterMs of [0.2, 0.5, 0.9])
    scheduler.after(afterMs * durationMs, 'the service goes on', () => {
      for (const payment of ledger.payments) if (random.chance(0.5)) ledger.expire(payment);
      if (random.chance(0.5)) revise(world, random);
    });
  await scheduler.runUntil(scheduler.now() + durationMs, world.hasFailed);
  world.isOutage = () => false;
  for (const running of machines) {
    running.machine.boot();
    world.boot(running);
  }
  // A person must request reconciliation of the days before an account's first reconciliation.
  const reports = world.log.all().filter(({ type }) => type === 'ReconciliationReported');
  const reconciled = new Set(reports.map(({ data }) => (data as { account?: string }).account));
  for (const account of accounts)
    if (!reconciled.has(account)) void askFor(callerOf(`outage ${account}`), account, lastDay);
}

export async function askFor(caller: Caller, account: string, day: string): Promise<void> {
  caller.trace.tell(`a person asks for the reconciliation of ${account} on ${day}`);
  const body = { environment: 'sandbox', account, day, isDryRun: false };
  const request = post('operator', 'admin/reconciliations', body);
  while (!isSuccess(await caller.request(request))) await caller.sleep(5_000);
}
