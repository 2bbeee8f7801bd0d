/** Lets disasters befall the tortured until the time is over. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Chance } from './chance.ts';
import { type Disaster, type Moment, clockSteps, isOutage, pickDisaster, weather } from './disasters.ts';
import type { Tortured } from './tortured.ts';

const loadWithinMs = 10_000;
const pollMs = 50;

export type Counts = Map<string, number>;

export interface TormentOptions {
  signal: AbortSignal;
  counts: Counts;
  /** How many payments and payouts were made so far, so that it is known when some of it gets through again. */
  made: () => number;
}

/** Until the signal; then everything runs and nothing fails any more. */
export async function torment(
  tortured: Tortured,
  chance: Chance,
  { signal, counts, made }: TormentOptions,
): Promise<void> {
  const { disasters, host } = tortured;
  const happen = momentsOf(tortured, chance);
  const outages = new Map<Disaster, Promise<unknown>>();
  for (const each of disasters) counts.set(each, 0);
  await happen.weather();
  while (!signal.aborted) {
    await someLoad(chance.whole(0, 8), made, signal);
    const disaster = pickDisaster(chance, disasters);
    if (!isOutage(disaster)) await happen[disaster]();
    else if (outages.has(disaster)) continue;
    else {
      const outage = tortured.breakDown(disaster, chance).finally(() => outages.delete(disaster));
      // It is awaited in the end; until then nobody else would see its failure.
      outage.catch(() => undefined);
      outages.set(disaster, outage);
    }
    counts.set(disaster, (counts.get(disaster) ?? 0) + 1);
  }
  await Promise.all(outages.values());
  await host.sandbox('DELETE', '/sandbox/faults');
}

/** However fast the machine is, there is something that a disaster can hit. It is not waited for as long as an outage may last. */
async function someLoad(count: number, made: () => number, signal: AbortSignal): Promise<void> {
  const [enough, waitUntil] = [made() + count, Date.now() + loadWithinMs];
  while (made() < enough && Date.now() < waitUntil && !signal.aborted) await delay(pollMs);
}

function momentsOf(tortured: Tortured, chance: Chance): Record<Moment, () => Promise<unknown>> {
  const { relay, host } = tortured;
  return {
    kill: () => tortured.killSomething(),
    stop: () => tortured.stopSomething(chance.between(500, 12_000)),
    hold: async () => {
      relay.hold();
      await delay(chance.between(200, 5_000));
      relay.letGo();
    },
    cut: async () => relay.cut(),
    weather: async () => {
      await host.sandbox('DELETE', '/sandbox/faults');
      await control(tortured, '/sandbox/faults', weather(chance));
    },
    clock: () => control(tortured, '/sandbox/clock', { advanceMs: chance.pick(clockSteps) }),
  };
}

/** @throws Error where the sandbox does not do it */
async function control({ host }: Tortured, path: string, asked: unknown): Promise<void> {
  const { statusCode, body } = await host.sandbox('POST', path, asked);
  if (statusCode !== 200) throw new Error(`${path} was answered ${statusCode}: ${JSON.stringify(body)}`);
}
