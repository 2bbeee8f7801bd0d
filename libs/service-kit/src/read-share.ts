/** Limits the share of the event loop of long reads while other requests run. */
import type { Clock } from './clock.ts';
import type { UnderWay } from './under-way.ts';

/** How long long reads work before others run. */
const stretchMs = 2;
/** How long they then rest while other requests are under way. */
const restMs = 20;

export interface ReadShare {
  /** Call between two pieces of work. Undefined: continue. Otherwise await it. */
  giveWay(): Promise<void> | undefined;
}

export function createReadShare(
  clock: Pick<Clock, 'monotonic' | 'sleep'>,
  { isBusy }: Pick<UnderWay, 'isBusy'>,
): ReadShare {
  let endsAt = 0;
  let resting: Promise<void> | undefined;

  async function rest(): Promise<void> {
    await new Promise((resolve) => void setImmediate(resolve));
    if (isBusy()) await clock.sleep(restMs);
    endsAt = clock.monotonic() + stretchMs;
    resting = undefined;
  }

  return { giveWay: () => (clock.monotonic() < endsAt ? undefined : (resting ??= rest())) };
}
