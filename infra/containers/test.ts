/** `npm run test:containers`: the shipped docker-compose.yml on a real engine, and the suites of both ports against containers. */
import { type StdioOptions, spawn } from 'node:child_process';
import { join } from 'node:path';
import { type ServerProgram, endOf, startServerProgram } from '../run-with-server.ts';
import { CannotGoOn, requireGoingOn, runCommand } from '../stop-with-sentence.ts';
import { findEngine } from './engine.ts';
import { makeImages, testVersion } from './images.ts';

const workspace = join(import.meta.dirname, '..', '..');
const cacheDir = join(workspace, '.cache', 'containers');
const say = (line: string) => process.stdout.write(`${line}\n`);

const usage = `npm run test:containers [-- <options of vitest>]

Builds the image of the services, brings docker-compose.yml up, takes payments through it, kills each container in turn, and
takes it down again. Uses the Docker engine that answers (DOCKER_HOST), or installs and starts Debian's as root. Images that
NODE_IMAGE, EVENTSTORE_IMAGE and KAFKA_IMAGE name are used; the others are made of Debian, npm and Maven parts: Kafka itself,
and a stand-in for EventStoreDB. ${cacheDir} keeps what takes long to fetch.
`;

const testingOf = (library: string) => join(workspace, 'libs', library, 'src', 'testing');

await runCommand(async (signal) => {
  if (process.argv.includes('--help')) {
    process.stdout.write(usage);
    return 0;
  }
  await using stops = new AsyncDisposableStack();
  const engine = stops.adopt(await findEngine({ dataDir: join(cacheDir, 'engine'), say, signal }), (found) =>
    found.stop(),
  );
  const images = await makeImages({ engine, cacheDir, say, signal });
  Object.assign(process.env, engine.env, images, {
    TESTCONTAINERS_RYUK_DISABLED: 'true',
    // Ports are on loopback, also where this machine is a container itself.
    TESTCONTAINERS_HOST_OVERRIDE: '127.0.0.1',
    TOLLGATE_COMPOSE: engine.compose.join(' '),
    TOLLGATE_VERSION: testVersion,
  });
  const eventStore = await serverIn(join(testingOf('event-store'), 'eventstoredb-container.ts'), signal);
  stops.defer(eventStore.stop);
  const kafka = await serverIn(join(testingOf('message-bus'), 'kafka-container.ts'), signal);
  stops.defer(kafka.stop);
  return await runSpecs({ EVENTSTORE_URL: eventStore.address, KAFKA_BROKERS: kafka.address }, signal);
});

/** For the suites of the ports; compose has servers of its own. */
async function serverIn(program: string, signal: AbortSignal): Promise<ServerProgram> {
  const server = await startServerProgram([program], { signal });
  requireGoingOn(signal);
  if (server === undefined) throw new CannotGoOn('The Docker engine does not answer any more.');
  return server;
}

async function runSpecs(env: object, signal: AbortSignal): Promise<number> {
  const vitest = join(workspace, 'node_modules', 'vitest', 'vitest.mjs');
  const argv = [vitest, 'run', '--root', workspace, '--project', 'containers', ...process.argv.slice(2)];
  const stdio: StdioOptions = ['ignore', 'inherit', 'inherit'];
  const child = spawn(process.execPath, argv, { env: { ...process.env, ...env }, stdio });
  const stop = () => void child.kill('SIGTERM');
  signal.addEventListener('abort', stop, { once: true });
  const exitCode = await endOf(child);
  signal.removeEventListener('abort', stop);
  return exitCode;
}
