/** Requests of a process that are being answered, apart from long reads: these run in the gaps between them. */
import { once } from './once.ts';

export interface UnderWay {
  /** Returns how to end it. */
  begin(): () => void;
  isBusy(): boolean;
}

export function createUnderWay(): UnderWay {
  let count = 0;
  return {
    begin: () => {
      count += 1;
      return once(() => void (count -= 1));
    },
    isBusy: () => count > 0,
  };
}
