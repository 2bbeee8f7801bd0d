/** The shortest history of a failure: fewer stories, fewer kinds of faults. */
import { type FaultKind, faultKinds } from './faults/faults.ts';
import { runWatched } from './run-watched.ts';
import type { RunOptions, RunResult } from './world.ts';

export interface Shrunk {
  options: RunOptions;
  result: RunResult;
}

/** @param result of the seed as it failed */
export async function shrink(options: RunOptions, result: RunResult): Promise<Shrunk> {
  const invariant = result.violation?.invariant;
  let best: Shrunk = { options, result };

  async function tryWith(changes: Partial<RunOptions>): Promise<boolean> {
    const smaller = { ...best.options, ...changes };
    const rerun = await runWatched({ ...smaller, isWhole: true });
    if (rerun.violation?.invariant !== invariant) return false;
    best = { options: smaller, result: rerun };
    return true;
  }

  for (let operationsMax = 1; operationsMax < result.operations; operationsMax += 1)
    if (await tryWith({ operationsMax })) break;
  for (const kind of faultKinds) {
    if (!best.result.faults.has(kind)) continue;
    await tryWith({ without: [...(best.options.without ?? []), kind] });
  }
  return best;
}

export const commandOf = ({
  seed,
  operationsMax,
  without = [],
}: {
  seed: number | string;
  operationsMax?: number;
  without?: readonly FaultKind[];
}): string =>
  [
    `npm run simulate -- --seed ${seed} --trace`,
    ...(operationsMax === undefined ? [] : [`--operations ${operationsMax}`]),
    ...(without.length === 0 ? [] : [`--without ${without.join(',')}`]),
  ].join(' ');
