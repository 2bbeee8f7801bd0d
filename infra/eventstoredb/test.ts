/** `npm run test:eventstoredb`: the specs that need an EventStoreDB, wherever one can be had. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { runCommand } from '../kafka/stop-with-sentence.ts';

const workspace = join(import.meta.dirname, '..', '..');
const testing = join(workspace, 'libs', 'event-store', 'src', 'testing');
const say = (line: string) => process.stdout.write(`${line}\n`);

interface NamedServer {
  url: string;
  stop(): Promise<void>;
}

/** The address may hold a password: it is not printed. */
async function namedServer(): Promise<NamedServer | undefined> {
  const url = process.env['EVENTSTORE_URL'];
  if (url === undefined || url === '') return undefined;
  say('Using the EventStoreDB that EVENTSTORE_URL names.');
  return { url, stop: async () => {} };
}

/** The container lives in a process of its own, which ends it when its standard input is closed. */
async function containerServer(): Promise<NamedServer | undefined> {
  const child = spawn(process.execPath, [join(testing, 'eventstoredb-container.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const url = await firstLine(child);
  const stop = async () => {
    const ended = endOf(child);
    child.stdin.end();
    await ended;
  };
  if (url?.startsWith('esdb:') === true) {
    say(`Using KurrentDB in a container: ${url}.`);
    return { url, stop };
  }
  await stop();
  return undefined;
}

async function testServer(): Promise<NamedServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-eventstoredb-'));
  const program = join(testing, 'eventstoredb-server', 'main.ts');
  const child = spawn(process.execPath, [program, '--data-dir', dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await firstLine(child);
  if (url === undefined) throw new Error('The test server did not start.');
  say('No Docker engine answers: using the test server, which speaks the protocol from an embedded store.');
  return {
    url,
    stop: async () => {
      const ended = endOf(child);
      child.kill('SIGTERM');
      await ended;
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function firstLine(child: ChildProcess): Promise<string | undefined> {
  if (child.stdout === null) return undefined;
  for await (const line of createInterface({ input: child.stdout })) return line;
  return undefined;
}

const endOf = (child: ChildProcess) =>
  new Promise<number>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve(child.exitCode ?? 1);
    child.once('exit', (code) => resolve(code ?? 1));
  });

await runCommand(async () => {
  const server = (await namedServer()) ?? (await containerServer()) ?? (await testServer());
  const vitest = join(workspace, 'node_modules', 'vitest', 'vitest.mjs');
  const args = [vitest, 'run', '--config', 'vitest.eventstoredb.config.ts', ...process.argv.slice(2)];
  const env = { ...process.env, EVENTSTORE_URL: server.url };
  const specs = spawn(process.execPath, args, { cwd: workspace, env, stdio: 'inherit' });
  // A terminal's Ctrl-C reaches the specs, too: they end, and the server after them.
  const stopSpecs = () => void specs.kill('SIGTERM');
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, stopSpecs);
  try {
    return await endOf(specs);
  } finally {
    await server.stop();
  }
});
