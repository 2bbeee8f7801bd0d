/** A server with EventStoreDB's protocol private to a test, which may kill and stop it. */
import { fileURLToPath } from 'node:url';
import { startServerProgram } from './server-program.ts';

export interface LocalEventStoreDb {
  /** Value of `EVENTSTORE_URL`, also while it is stopped. */
  url: string;
  /** Restarts it on the same data and port; resolves when it serves. */
  start(): Promise<void>;
  /** Resolves when its process has ended. */
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

const program = fileURLToPath(
  new URL('../../../libs/event-store/src/testing/eventstoredb-server/main.ts', import.meta.url),
);

const portOf = (url: string): string => /:(\d+)\?/.exec(url)?.[1] ?? '0';

/** Resolves when it serves. */
export async function startLocalEventStoreDb(dataDir: string): Promise<LocalEventStoreDb> {
  const startAt = (port: string) => startServerProgram(program, ['--port', port, '--data-dir', dataDir]);
  let server = await startAt('0');
  const { address: url } = server;
  return {
    url,
    start: async () => {
      server = await startAt(portOf(url));
    },
    stop: (signal) => server.stop(signal),
  };
}
