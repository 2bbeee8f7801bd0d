/** `npm run test:eventstoredb`: the specs that need an EventStoreDB, from any available source. */
import { join } from 'node:path';
import { runWithServer, startServerProgram, type RunningServer } from '../run-with-server.ts';
import { vitestArgv } from '../run-vitest.ts';
import { requireGoingOn, runCommand } from '../stop-with-sentence.ts';

const workspace = join(import.meta.dirname, '..', '..');
const say = (line: string) => process.stdout.write(`${line}\n`);

const serverAt = (url: string, stop: () => Promise<void>): RunningServer => ({
  env: { EVENTSTORE_URL: url },
  stop,
});

/** Not printed, because the URL may contain a password. */
function namedServer(): RunningServer | undefined {
  const url = process.env['EVENTSTORE_URL'];
  if (url === undefined || url === '') return undefined;
  say('Using the EventStoreDB that EVENTSTORE_URL names.');
  return serverAt(url, async () => {});
}

async function containerServer(signal: AbortSignal): Promise<RunningServer | undefined> {
  const program = join(import.meta.dirname, '../containers/server.ts');
  const container = await startServerProgram([program, 'eventstoredb'], { signal });
  if (container === undefined) return undefined;
  say(`Using KurrentDB in a container: ${container.address}.`);
  return serverAt(container.address, container.stop);
}

async function testServer(dataDir: string, signal: AbortSignal): Promise<RunningServer> {
  const program = join(workspace, 'libs/event-store/src/testing/eventstoredb-server/main.ts');
  const server = await startServerProgram([program, '--data-dir', dataDir], {
    signal,
    tellToEnd: (child) => void child.kill('SIGTERM'),
  });
  if (server === undefined) {
    requireGoingOn(signal);
    throw new Error('The test server did not start.');
  }
  say('No Docker engine answers: using the test server, which speaks the protocol from an embedded store.');
  return serverAt(server.address, server.stop);
}

await runCommand((signal) =>
  runWithServer({
    obtainServer: async (dataDir) => {
      const elsewhere = namedServer() ?? (await containerServer(signal));
      // A running server is returned even after an interruption, because its owner stops it.
      if (elsewhere !== undefined) return elsewhere;
      requireGoingOn(signal);
      return testServer(dataDir, signal);
    },
    argv: vitestArgv('eventstoredb', process.argv.slice(2)),
    signal,
  }),
);
