/** A server with EventStoreDB's protocol private to a test, which may kill and stop it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

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
  let { child, url } = await spawnServer(dataDir, '0');
  return {
    url,
    start: async () => {
      ({ child, url } = await spawnServer(dataDir, portOf(url)));
    },
    stop: async (signal) => {
      const gone = once(child, 'exit');
      if (child.kill(signal)) await gone;
    },
  };
}

async function spawnServer(dataDir: string, port: string): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [program, '--port', port, '--data-dir', dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const url of createInterface({ input: child.stdout })) return { child, url };
  throw new Error('the EventStoreDB of the specs could not be started');
}
