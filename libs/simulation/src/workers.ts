/** Runs of simulated worlds on several cores. */
import { Worker } from 'node:worker_threads';
import type { RunOptions, RunResult } from './world.ts';

/** What a worker tells of a run. */
export type RunReport = Omit<RunResult, 'lines' | 'traceHash'> & { options: RunOptions };

/** What is outside of JavaScript is given back late, or in pieces: a worker is replaced after so many runs. */
const runsPerWorker = 1_000;

/** Until `take` gives no more. */
export async function runOnWorkers(
  count: number,
  take: () => RunOptions | undefined,
  onReport: (report: RunReport) => void,
): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => keepRunning(take, onReport)));
}

async function keepRunning(
  take: () => RunOptions | undefined,
  onReport: (report: RunReport) => void,
): Promise<void> {
  for (let options = take(); options !== undefined; options = take())
    await runSome(options, runsPerWorker, take, onReport);
}

function runSome(
  first: RunOptions,
  runsMax: number,
  take: () => RunOptions | undefined,
  onReport: (report: RunReport) => void,
): Promise<void> {
  const worker = new Worker(new URL('./seed-worker.ts', import.meta.url));
  let runs = 0;
  return new Promise((resolve, reject) => {
    const run = (options: RunOptions | undefined) => {
      runs += 1;
      if (options === undefined) void worker.terminate().then(() => resolve());
      else worker.postMessage(options);
    };
    worker.on('error', reject);
    worker.on('message', (report: RunReport) => {
      onReport(report);
      run(runs < runsMax ? take() : undefined);
    });
    run(first);
  });
}
