/** Durable appends and nothing else: a thread that inserts waiting events in one transaction, and syncs it. */
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

const database = new DatabaseSync(String(workerData));
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
database.exec(
  'CREATE TABLE events (stream TEXT, revision INTEGER, data TEXT, PRIMARY KEY (stream, revision))',
);
const insert = database.prepare('INSERT INTO events VALUES (?, ?, ?)');
parentPort?.on('message', (batch: [stream: string, revision: number, data: string][]) => {
  database.exec('BEGIN IMMEDIATE');
  for (const each of batch) insert.run(...each);
  database.exec('COMMIT');
  parentPort?.postMessage(batch.length);
});
