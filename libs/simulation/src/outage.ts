/** The whole gateway is gone for days, while the service goes on: its callbacks find nobody, and none of them is sent again. */
import { revise } from './disasters.ts';
import type { World } from './world.ts';

const dayMs = 86_400_000;

export async function outageOfDays(world: World): Promise<void> {
  const { scheduler, trace, machines, ledger } = world;
  const random = world.random.fork('outage');
  const durationMs = random.between(0.5, 25) * dayMs;
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
}
