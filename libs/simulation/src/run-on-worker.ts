/** Runs each seed that it is sent, on a thread of its own. */
import { parentPort } from 'node:worker_threads';
import { runWatched } from './run-watched.ts';

parentPort?.on('message', (seed: number) => {
  void runWatched({ seed }).then(({ lines: _, ...report }) => parentPort?.postMessage(report));
});
