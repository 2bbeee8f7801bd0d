/** Worker thread that runs each seed it receives. */
import { parentPort } from 'node:worker_threads';
import { runWatched } from './run-watched.ts';

parentPort?.on('message', (seed: number) => {
  void runWatched({ seed }).then(({ lines: _, ...report }) => parentPort?.postMessage(report));
});
