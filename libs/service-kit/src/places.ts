import { once } from './once.ts';

/** Maximum concurrent places, per holder and in total. */
export function createPlaces({ perHolderMax, totalMax }: { perHolderMax: number; totalMax: number }) {
  const taken = new Map<string, number>();
  let total = 0;

  function leave(holder: string): void {
    total -= 1;
    const left = (taken.get(holder) ?? 0) - 1;
    if (left > 0) taken.set(holder, left);
    else taken.delete(holder);
  }

  return {
    /** Returns how to leave the place; undefined if none is free. */
    take(holder: string): (() => void) | undefined {
      const own = taken.get(holder) ?? 0;
      if (own >= perHolderMax || total >= totalMax) return undefined;
      taken.set(holder, own + 1);
      total += 1;
      return once(() => leave(holder));
    },
  };
}
