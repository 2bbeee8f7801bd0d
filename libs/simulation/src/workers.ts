/** Runs of simulated worlds on several threads. */
import { Worker, isMainThread, parentPort } from 'node:worker_threads';
import { runWatched } from './run-watched.ts';
import type { RunResult } from './world.ts';

/** What a worker tells of a run. */
export type RunReport = Omit<RunResult, 'lines' | 'traceHash'>;

if (!isMainThread)
  parentPort?.on('message', (seed: number) => {
    void runWatched({ seed }).then(({ lines: _, traceHash: _hash, ...report }) =>
      parentPort?.postMessage(report satisfies RunReport),
    );
  });

/** Until `take` gives no more seeds. */
export async function runOnWorkers(
  count: number,
  take: () => number | undefined,
  onReport: (report: RunReport) => void,
): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => runOnWorker(take, onReport)));
}

function runOnWorker(take: () => number | undefined, onReport: (report: RunReport) => void): Promise<void> {
  const worker = new Worker(new URL(import.meta.url));
  return new Promise((resolve, reject) => {
    const runNext = () => {
      const seed = take();
      if (seed === undefined) void worker.terminate().then(() => resolve());
      else worker.postMessage(seed);
    };
    worker.on('error', reject);
    worker.on('message', (report: RunReport) => {
      onReport(report);
      runNext();
    });
    runNext();
  });
}
