/** Entry of the writer thread. */
import { parentPort, workerData } from 'node:worker_threads';
import { post, serveCommits } from './serve-commits.ts';
import { StartRefused } from './sqlite-error.ts';
import type { WriterOptions } from './writer-protocol.ts';

if (parentPort !== null)
  try {
    serveCommits(parentPort, workerData as WriterOptions);
  } catch (error) {
    if (!(error instanceof StartRefused)) throw error;
    post(parentPort, { kind: 'start-refused', code: error.code, message: error.message });
  }
