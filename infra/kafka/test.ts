/** `npm run test:kafka`: the specs that need a real Kafka broker, wherever one can be had. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { stopBroker } from './broker-process.ts';
import { freePort, startBroker } from './start-broker.ts';
import { runCommand } from './stop-with-sentence.ts';

const workspace = join(import.meta.dirname, '..', '..');
const say = (line: string) => process.stdout.write(`${line}\n`);

interface Broker {
  brokers: string;
  stop(): Promise<void>;
}

async function namedBroker(): Promise<Broker | undefined> {
  const brokers = process.env['KAFKA_BROKERS'];
  if (brokers === undefined || brokers === '') return undefined;
  say(`Using the Kafka that KAFKA_BROKERS names: ${brokers}.`);
  return { brokers, stop: async () => {} };
}

/** The container lives in a process of its own, which ends it when its standard input is closed. */
async function containerBroker(): Promise<Broker | undefined> {
  const program = join(workspace, 'libs', 'message-bus', 'src', 'testing', 'kafka-container.ts');
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = endOf(child);
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('no ')) break;
    say(`Using Kafka in a container: ${line}.`);
    return {
      brokers: line,
      stop: async () => {
        child.stdin.end();
        await ended;
      },
    };
  }
  child.stdin.end();
  await ended;
  return undefined;
}

async function localBroker(): Promise<Broker> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-kafka-'));
  say('No Docker engine answers: using a local Kafka with fresh data.');
  try {
    const { pid, port } = await startBroker({ dataDir, port: await freePort(), say });
    return {
      brokers: `127.0.0.1:${port}`,
      stop: async () => {
        await stopBroker(dataDir, pid);
        rmSync(dataDir, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(dataDir, { recursive: true, force: true });
    throw error;
  }
}

const endOf = (child: ChildProcess) =>
  new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? 1)));

await runCommand(async () => {
  const broker = (await namedBroker()) ?? (await containerBroker()) ?? (await localBroker());
  const vitest = join(workspace, 'node_modules', 'vitest', 'vitest.mjs');
  const args = [vitest, 'run', '--config', 'vitest.kafka.config.ts', ...process.argv.slice(2)];
  const env = { ...process.env, KAFKA_BROKERS: broker.brokers };
  const specs = spawn(process.execPath, args, { cwd: workspace, env, stdio: 'inherit' });
  // A terminal's Ctrl-C reaches the specs, too: they end, and the broker after them.
  const stopSpecs = () => void specs.kill('SIGTERM');
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, stopSpecs);
  try {
    return await endOf(specs);
  } finally {
    await broker.stop();
  }
});
