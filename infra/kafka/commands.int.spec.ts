import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findBroker } from './broker-process.ts';
import { servesMetadata } from './metadata-request.ts';

// Specs that need a broker run with `npm run test:kafka`.

function run(command: 'up' | 'down', argv: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const program = join(import.meta.dirname, `${command}.ts`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...argv], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return { status, stdout, stderr };
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'kafka-commands-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function listener(answer?: Buffer): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    if (answer !== undefined) socket.once('data', () => socket.end(answer));
  });
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const oneSentence = /^[^\n]+\.\n$/;

describe('npm run kafka:up and kafka:down', () => {
  it.each(['up', 'down'] as const)('explain themselves: %s', (command) => {
    expect(run(command, ['--help'])).toMatchObject({
      status: 0,
      stderr: '',
      stdout: expect.stringContaining('--data-dir'),
    });
  });

  it('refuses a port in use, naming it', async () => {
    const port = await listener();
    const { status, stderr } = run('up', ['--data-dir', temporaryFolder()], { KAFKA_PORT: String(port) });
    expect([status, stderr]).toEqual([1, expect.stringMatching(oneSentence)]);
    expect(stderr).toContain(String(port));
  });

  it('reports that Java is missing', () => {
    const env = { JAVA_HOME: '/nowhere', KAFKA_PORT: '39292' };
    const { status, stderr } = run('up', ['--data-dir', temporaryFolder()], env);
    expect([status, stderr]).toEqual([1, expect.stringMatching(oneSentence)]);
    expect(stderr).toContain('/nowhere/bin/java');
  });

  it('down reports that nothing is running', () => {
    expect(run('down', ['--data-dir', temporaryFolder()])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('No broker runs'),
    });
  });

  // The process id in a stale file may belong to another process.
  it('down does not stop a process that is not our broker', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'kafka.pid'), JSON.stringify({ pid: process.pid, port: 9092 }));
    expect(findBroker(folder)).toBeUndefined();
    expect(run('down', ['--data-dir', folder]).stdout).toContain('No broker runs');
  });
});

describe('a broker serves', () => {
  it('when it answers with metadata that contains a broker', async () => {
    const answer = Buffer.alloc(16);
    answer.writeInt32BE(7, 4);
    answer.writeInt32BE(1, 12);
    expect(await servesMetadata(await listener(answer))).toBe(true);
    answer.writeInt32BE(0, 12);
    expect(await servesMetadata(await listener(answer))).toBe(false);
  });

  it('not when the port is closed, or silent', async () => {
    expect(await servesMetadata(1)).toBe(false);
    expect(await servesMetadata(await listener(), 100)).toBe(false);
  });
});
