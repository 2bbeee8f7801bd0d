/** Chance by seed: the same seed torments in the same order; what the machine does between is its own. */
import { createHash } from 'node:crypto';

export interface Chance {
  /** A number in [min, max). */
  between(min: number, max: number): number;
  /** A whole number from `min` to `max`, both included. */
  whole(min: number, max: number): number;
  pick<Item>(items: readonly Item[]): Item;
}

export function createChance(seed: string): Chance {
  let count = 0;
  const fraction = () => {
    count += 1;
    return createHash('sha256').update(`${seed}/${count}`).digest().readUInt32BE(0) / 2 ** 32;
  };
  const between = (min: number, max: number) => min + fraction() * (max - min);
  const whole = (min: number, max: number) => Math.floor(between(min, max + 1));
  return {
    ...{ between, whole },
    pick: (items) => {
      const item = items[whole(0, items.length - 1)];
      if (item === undefined) throw new RangeError('there is nothing to pick from');
      return item;
    },
  };
}
