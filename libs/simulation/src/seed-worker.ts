/** Runs the seeds that it is given, one after the other. */
import { parentPort } from 'node:worker_threads';
import { runWatched } from './run-watched.ts';
import type { SeedReport } from './campaign.ts';

parentPort?.on('message', (seed: number) => {
  void runWatched({ seed }).then(({ steps, simulatedMs, operations, faults, paths, violation }) => {
    const report: SeedReport = { seed, steps, simulatedMs, operations, faults, paths, violation };
    parentPort?.postMessage(report);
  });
});
