/** What may befall the tortured. */
import { faultNames, faultOperations } from '@tollgate/payment-service/settings';
import type { Arrangement } from './arrangements.ts';
import type { Chance } from './chance.ts';

/** Over at once, or waited for. */
const everywhere = ['kill', 'stop', 'hold', 'cut', 'weather', 'clock'] as const;
/** Goes on beside the others, one of each kind at a time. */
const outages = ['broker', 'store', 'disk'] as const;

export type Moment = (typeof everywhere)[number];
export type Outage = (typeof outages)[number];
export type Disaster = Moment | Outage;

export const isOutage = (disaster: Disaster): disaster is Outage =>
  (outages as readonly string[]).includes(disaster);

/** What can befall this arrangement; `hasDisk` where its data directory is of a size that can be filled. */
export function disastersOf(
  { isOnKafka, isOnEventStoreDb }: Arrangement,
  hasDisk: boolean,
): readonly Disaster[] {
  const isThere = { broker: isOnKafka, store: isOnEventStoreDb, disk: hasDisk };
  return [...everywhere, ...outages.filter((outage) => isThere[outage])];
}

/** How many times as likely as the others. */
const weights: Partial<Record<Disaster, number>> = { kill: 3, stop: 2, weather: 2, broker: 2, store: 2 };

export const pickDisaster = (chance: Chance, disasters: readonly Disaster[]): Disaster =>
  chance.pick(disasters.flatMap((each) => Array.from({ length: weights[each] ?? 1 }, () => each)));

/** How the Payment Service fails from now on, as the sandbox takes it: any fault of any operation, and callbacks always. */
export function weather(chance: Chance) {
  const of = (operation: (typeof faultOperations)[number]) => ({
    ...{ operation, fault: chance.pick(faultNames(operation)) },
    ...{ probability: chance.pick([0.05, 0.2, 0.5]), delayMs: chance.whole(100, 4_000) },
  });
  const faults = Array.from({ length: chance.whole(0, 4) }, () => of(chance.pick(faultOperations)));
  return [...faults, of('callback')];
}

/** How far the sandbox's clock is moved at once, milliseconds: pages end, callbacks and settlements fall due. */
export const clockSteps = [1_000, 60_000, 3_600_000, 86_400_000] as const;
