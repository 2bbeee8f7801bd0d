/** How many may wait for events at the same time. */
import type { Caller } from '@tollgate/teams';

/** Of one key, and in all: each holds a connection of a front door, too. */
const perKeyMax = 10;
const totalMax = 500;

export interface Place {
  leave(): void;
}

export function createPlaces() {
  const taken = new Map<string, number>();
  let total = 0;
  return {
    /** Undefined where there is none. */
    take({ team, keyId }: Pick<Caller, 'team' | 'keyId'>): Place | undefined {
      const key = `${team} ${keyId}`;
      const own = taken.get(key) ?? 0;
      if (own >= perKeyMax || total >= totalMax) return undefined;
      taken.set(key, own + 1);
      total += 1;
      let isTaken = true;
      return {
        leave() {
          if (!isTaken) return;
          isTaken = false;
          total -= 1;
          const left = (taken.get(key) ?? 1) - 1;
          if (left === 0) taken.delete(key);
          else taken.set(key, left);
        },
      };
    },
  };
}
