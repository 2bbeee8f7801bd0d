/** Runs what it is given, one after the other. */
import { parentPort } from 'node:worker_threads';
import { runWatched } from './run-watched.ts';
import type { RunOptions } from './world.ts';
import type { RunReport } from './workers.ts';

parentPort?.on('message', (options: RunOptions) => {
  void runWatched(options).then(({ lines: _, traceHash: _hash, ...result }) => {
    const report: RunReport = { options, ...result };
    parentPort?.postMessage(report);
  });
});
