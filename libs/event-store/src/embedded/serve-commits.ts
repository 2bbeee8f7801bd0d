import type { MessagePort } from 'node:worker_threads';
import { createBatchCommit } from './batch-commit.ts';
import { openForWriting } from './open-database.ts';
import { sqliteCodeOf } from './sqlite-error.ts';
import type { FromWriter, Operation, OperationResult, ToWriter, WriterOptions } from './writer-protocol.ts';

/** A thread that appends: the one that has started this one, or another one of the process. */
type Client = Pick<MessagePort, 'postMessage' | 'on'>;

interface Batch {
  client: Client;
  operations: readonly Operation[];
}

/** A commit blocks its thread until the disk has synced, so it has its own thread. */
export function serveCommits(first: MessagePort, { file, pageCountMax }: WriterOptions): void {
  const database = openForWriting(file);
  if (pageCountMax !== undefined) database.exec(`PRAGMA max_page_count = ${pageCountMax}`);
  const commit = createBatchCommit(database);
  const clients = new Set<Client>();
  let waiting: Batch[] = [];

  /** Batches of several clients share one commit; that of the first one comes first. */
  function commitAll(): void {
    if (waiting.length === 0) return;
    const batches = waiting.toSorted((one, other) => rank(one) - rank(other));
    waiting = [];
    const answer = commitOrFail(() => commit(batches.flatMap(({ operations }) => operations)));
    let done = 0;
    for (const { client, operations } of batches) {
      const { length } = operations;
      post(
        client,
        answer.kind === 'failed' ? answer : { ...answer, results: answer.results.slice(done, done + length) },
      );
      done += length;
    }
    if (answer.kind === 'failed') return;
    const others = [...clients].filter((client) => batches.every((batch) => batch.client !== client));
    for (const client of others) post(client, { kind: 'others-committed' });
  }
  const rank = ({ client }: Batch): number => Number(client !== first);

  function serve(client: Client): void {
    clients.add(client);
    client.on('close', () => clients.delete(client));
    client.on('message', (message: ToWriter) => {
      switch (message.kind) {
        case 'commit':
          // Clients that sent at the same moment share the commit.
          if (waiting.push({ client, operations: message.operations }) === 1) setImmediate(commitAll);
          break;
        case 'connect':
          serve(message.port);
          break;
        case 'stop':
          commitAll();
          database.close();
          for (const each of clients) if (each !== first) (each as MessagePort).close();
          first.close();
      }
    });
  }
  serve(first);
  post(first, { kind: 'started' });
}

export const post = (client: Client, message: FromWriter): void => client.postMessage(message);

type Outcome = Extract<FromWriter, { kind: 'committed' | 'failed' }>;

function commitOrFail(commit: () => readonly OperationResult[]): Outcome {
  try {
    return { kind: 'committed', results: commit() };
  } catch (error) {
    const sqliteCode = sqliteCodeOf(error);
    // Anything but SQLite's own failures is our mistake: the thread dies of it, loudly.
    if (sqliteCode === undefined) throw error;
    return { kind: 'failed', sqliteCode };
  }
}
