/** An interrupted run leaves nothing behind. The broker is a stand-in, because a real one takes seconds to start. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

const waiting = { timeout: 30_000, interval: 20 };

/** Formats nothing, and serves metadata unless it is to hang, until it is stopped. */
const java = `#!${process.execPath}
const { readFileSync } = require('node:fs');
if (process.argv.includes('kafka.tools.StorageTool')) process.exit(0);
const properties = readFileSync(process.argv.at(-1), 'utf8');
const port = Number(/^listeners=PLAINTEXT:..127.0.0.1:(\\d+)/m.exec(properties)[1]);
const answer = Buffer.alloc(16);
answer.writeInt32BE(7, 4);
answer.writeInt32BE(1, 12);
const server = require('node:net').createServer((socket) => {
  socket.on('error', () => {});
  socket.on('data', () => socket.end(answer));
});
if (process.env.BROKER_HANGS !== 'true') server.listen(port, '127.0.0.1');
else setInterval(() => {}, 1_000);
`;

const moduleUrl = (name: string) => JSON.stringify(pathToFileURL(join(import.meta.dirname, name)).href);

/** What \`npm run test:kafka\` does, with another broker and another program in the place of the specs. */
const command = (folder: string) => `
import { localBroker, runWithBroker } from ${moduleUrl('run-with-broker.ts')};
import { runCommand } from ${moduleUrl('../stop-with-sentence.ts')};
const distribution = { java: ${JSON.stringify(join(folder, 'java'))}, classPath: 'none' };
await runCommand((signal) =>
  runWithBroker({ obtainServer: localBroker(console.log, distribution), argv: [${JSON.stringify(join(folder, 'specs.ts'))}], signal }),
);
`;

/** Specs that start their own broker and process, and stop neither: they run until they are stopped or asked to end. */
const specs = `
import { existsSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { startBroker, freePort } from ${moduleUrl('start-broker.ts')};
const distribution = { java: join(import.meta.dirname, 'java'), classPath: 'none' };
const broker = await startBroker({ dataDir: join(tmpdir(), 'own'), port: await freePort(), say: () => {}, distribution });
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
console.log('specs ' + JSON.stringify([process.pid, broker.pid, child.pid]));
setInterval(() => existsSync(join(import.meta.dirname, 'end')) && process.exit(3), 20);
`;

interface Running {
  child: ChildProcess;
  output(): string;
  ended: Promise<number | null>;
  /** Folder for all temporary files. */
  temporary: string;
}

function start(env: Record<string, string> = {}): Running {
  const folder = mkdtempSync(join(tmpdir(), 'run-with-broker-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const temporary = mkdtempSync(join(folder, 'temporary-'));
  writeFileSync(join(folder, 'java'), java);
  chmodSync(join(folder, 'java'), 0o755);
  writeFileSync(join(folder, 'specs.ts'), specs);
  const argv = ['--input-type=module', '-e', command(folder)];
  const child = spawn(process.execPath, argv, { env: { ...process.env, TMPDIR: temporary, ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  return { child, output: () => output, ended, temporary };
}

/** An ended process may be listed until its exit code is read. */
function isRunning(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-p', String(pid), '-o', 'stat='], { encoding: 'utf8' });
  return !/^\s*(Z|$)/.test(stdout);
}

/** The first broker, by its file, and the processes started by the specs. */
async function startedBy(running: Running, isWithSpecs: boolean): Promise<number[]> {
  await expect.poll(() => brokerIn(running.temporary), waiting).toBeDefined();
  const first = brokerIn(running.temporary);
  if (!isWithSpecs) return [first ?? 0];
  await expect.poll(running.output, waiting).toContain('specs ');
  const [, others = '[]'] = /^specs (.*)$/m.exec(running.output()) ?? [];
  return [first ?? 0, ...(JSON.parse(others) as number[])];
}

function brokerIn(temporary: string): number | undefined {
  try {
    const [folder = ''] = readdirSync(temporary);
    const text = readFileSync(join(temporary, folder, 'server', 'kafka.pid'), 'utf8');
    return (JSON.parse(text) as { pid: number }).pid;
  } catch {
    // Missing or incomplete.
    return undefined;
  }
}

it('a signal while the broker starts leaves nothing behind', async () => {
  const running = start({ BROKER_HANGS: 'true' });
  const pids = await startedBy(running, false);
  expect(pids.map(isRunning)).toEqual([true]);
  running.child.kill('SIGINT');
  expect(await running.ended).toBe(1);
  expect([pids.map(isRunning), readdirSync(running.temporary)]).toEqual([[false], []]);
  expect(running.output()).toMatch(/^Stopped\.$/m);
});

it('a signal while the specs run leaves nothing behind, however often it comes', async () => {
  const running = start();
  const pids = await startedBy(running, true);
  expect(pids.map(isRunning)).toEqual([true, true, true, true]);
  running.child.kill('SIGTERM');
  running.child.kill('SIGTERM');
  expect(await running.ended).toBe(1);
  expect(pids.map(isRunning)).toEqual([false, false, false, false]);
  expect(readdirSync(running.temporary)).toEqual([]);
});

it('specs that end normally leave nothing behind either, and return their exit code', async () => {
  const running = start();
  const pids = await startedBy(running, true);
  writeFileSync(join(running.temporary, '..', 'end'), '');
  expect(await running.ended).toBe(3);
  expect(pids.map(isRunning)).toEqual([false, false, false, false]);
  expect(readdirSync(running.temporary)).toEqual([]);
});
