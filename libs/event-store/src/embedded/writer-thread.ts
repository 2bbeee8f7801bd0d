import { parentPort, workerData } from 'node:worker_threads';
import { createBatchCommit } from './batch-commit.ts';
import { openForWriting } from './open-database.ts';
import { sqliteCodeOf } from './sqlite-error.ts';
import { StartRefused } from './start-refused.ts';
import type { FromWriter, ToWriter, WriterOptions } from './writer-protocol.ts';

/** Entry of the writer thread: a commit blocks its thread for as long as the disk takes, so it has one of its own. */
function serveCommits({ file, pageCountMax }: WriterOptions): void {
  const database = openForWriting(file);
  if (pageCountMax !== undefined) database.exec(`PRAGMA max_page_count = ${pageCountMax}`);
  const commit = createBatchCommit(database);
  parentPort?.on('message', (message: ToWriter) => {
    if (message.kind === 'commit') return answer(commitOrFail(() => commit(message.operations)));
    database.close();
    parentPort?.close();
  });
  answer({ kind: 'started' });
}

const answer = (message: FromWriter) => parentPort?.postMessage(message);

function commitOrFail(commit: () => ReturnType<ReturnType<typeof createBatchCommit>>): FromWriter {
  try {
    return { kind: 'committed', results: commit() };
  } catch (error) {
    const sqliteCode = sqliteCodeOf(error);
    // Anything but SQLite's own failures is a mistake of ours: the thread dies of it, loudly.
    if (sqliteCode === undefined) throw error;
    return { kind: 'failed', sqliteCode };
  }
}

try {
  serveCommits(workerData as WriterOptions);
} catch (error) {
  if (!(error instanceof StartRefused)) throw error;
  answer({ kind: 'start-refused', code: error.code, message: error.message });
}
