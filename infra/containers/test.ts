/** `npm run test:containers`: the shipped docker-compose.yml on a real engine, and the suites of both ports against containers. */
import { join } from 'node:path';
import {
  type RunningServer,
  type ServerProgram,
  runWithServer,
  startServerProgram,
} from '../run-with-server.ts';
import { CannotContinue, requireGoingOn, runCommand } from '../stop-with-sentence.ts';
import { findEngine } from './engine.ts';
import { makeImages, testVersion } from './images.ts';

const workspace = join(import.meta.dirname, '..', '..');
const vitest = join(workspace, 'node_modules', 'vitest', 'vitest.mjs');
const cacheDir = join(workspace, '.cache', 'containers');
const say = (line: string) => process.stdout.write(`${line}\n`);

const usage = `npm run test:containers [-- <options of vitest>]

Builds the image of the services, starts docker-compose.yml, makes payments, kills each container in turn, and stops everything.
Uses the running Docker engine (DOCKER_HOST), or installs and starts Debian's as root. Uses the images that NODE_IMAGE,
EVENTSTORE_IMAGE and KAFKA_IMAGE name. Other images are built from Debian, npm and Maven packages: Kafka itself, and a stand-in
for EventStoreDB. Downloads are cached in ${cacheDir}.
`;

await runCommand(async (signal) => {
  if (process.argv.includes('--help')) {
    process.stdout.write(usage);
    return 0;
  }
  const argv = [vitest, 'run', '--root', workspace, '--project', 'containers', ...process.argv.slice(2)];
  return runWithServer({ obtainServer: (_folder, stopping) => obtainServers(stopping), argv, signal });
});

/** Starts the engine, the images, and a server container for the suite of each port; compose has its own servers. */
async function obtainServers(signal: AbortSignal): Promise<RunningServer> {
  await using stops = new AsyncDisposableStack();
  const options = { dataDir: join(cacheDir, 'engine'), say, signal };
  const engine = stops.adopt(await findEngine(options), (found) => found.stop());
  const images = await makeImages({ engine, cacheDir, say, signal });
  const env = {
    ...engine.env,
    ...images,
    TESTCONTAINERS_RYUK_DISABLED: 'true',
    // Ports are on loopback, even if this machine is itself a container.
    TESTCONTAINERS_HOST_OVERRIDE: '127.0.0.1',
    TOLLGATE_COMPOSE: engine.compose.join(' '),
    TOLLGATE_VERSION: testVersion,
  };
  // Programs started below inherit these variables.
  Object.assign(process.env, env);
  const eventStore = await serverIn('eventstoredb', signal);
  stops.defer(eventStore.stop);
  const kafka = await serverIn('kafka', signal);
  stops.defer(kafka.stop);
  const running = stops.move();
  return {
    env: { ...env, EVENTSTORE_URL: eventStore.address, KAFKA_BROKERS: kafka.address },
    stop: () => running.disposeAsync(),
  };
}

/** @throws CannotContinue */
async function serverIn(name: string, signal: AbortSignal): Promise<ServerProgram> {
  const program = join(import.meta.dirname, 'server.ts');
  const server = await startServerProgram([program, name], { signal });
  requireGoingOn(signal);
  if (server === undefined) throw new CannotContinue('The Docker engine no longer answers.');
  return server;
}
