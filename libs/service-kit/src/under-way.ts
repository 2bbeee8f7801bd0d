/** Requests of a process that are being answered, apart from long reads: these run in the gaps between them. */
import { once } from './once.ts';

export type UnderWay = ReturnType<typeof createUnderWay>;

export function createUnderWay() {
  let count = 0;
  return {
    /** Returns how to end it. */
    begin: (): (() => void) => {
      count += 1;
      return once(() => void (count -= 1));
    },
    isBusy: (): boolean => count > 0,
  };
}
