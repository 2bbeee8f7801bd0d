/** Seeded randomness: the same seed gives the same sequence on every machine. */
import { hash } from 'node:crypto';
import { mulberry32 } from '@tollgate/testing/fake-ids';
import type { Ids } from '@tollgate/service-kit';

export interface Random {
  /** In [0, 1). */
  fraction(): number;
  chance(probability: number): boolean;
  /** A number in [min, max). */
  between(min: number, max: number): number;
  /** A whole number from `min` to `max`, both included. */
  whole(min: number, max: number): number;
  pick<Item>(items: readonly Item[]): Item;
  /** Forks an independent sequence: draws from it do not shift other sequences. */
  fork(name: string): Random;
}

export function createRandom(seed: number | string): Random {
  const nextUint32 = mulberry32(hash('sha256', String(seed), 'buffer').readUInt32BE(0));
  const fraction = () => nextUint32() / 2 ** 32;
  const between = (min: number, max: number) => min + fraction() * (max - min);
  const whole = (min: number, max: number) => Math.floor(between(min, max + 1));
  return {
    fraction,
    chance: (probability) => fraction() < probability,
    between,
    whole,
    pick: (items) => {
      const item = items[whole(0, items.length - 1)];
      if (item === undefined) throw new RangeError('there is nothing to pick from');
      return item;
    },
    fork: (name) => createRandom(`${seed}/${name}`),
  };
}

/** Identifiers that look like the real ones. */
export function createIds(random: Random): Ids {
  const word = () => random.whole(0, 0xffff_ffff).toString(16).padStart(8, '0');
  const hex = (byteCount: number) => {
    let digits = word();
    while (digits.length < 2 * byteCount) digits += word();
    return digits.slice(0, 2 * byteCount);
  };
  const uuid = () => [8, 4, 4, 4, 12].map((digits) => hex(digits / 2)).join('-');
  return { hex, uuid, fraction: random.fraction };
}
