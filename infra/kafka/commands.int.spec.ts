import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { servesMetadata } from './metadata-request.ts';

// Specs that need a broker run with `npm run test:kafka`.

function run(argv: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const program = join(import.meta.dirname, 'main.ts');
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

const oneLine = /^[^\n]+\.\n$/;

describe('npm run kafka', () => {
  it('explains itself', () => {
    expect(run(['--help'])).toMatchObject({
      status: 0,
      stderr: '',
      stdout: expect.stringContaining('--data-dir'),
    });
  });

  it.each([
    [['--data-dir'], '--data-dir'],
    [['--secured-port', '0'], '--secured-port'],
    [['--port', '65536'], '--port'],
    [['--port', '9092.5'], '--port'],
    [['up'], 'up'],
  ])('refuses %j in one sentence that names the argument', (argv, name) => {
    const { status, stderr } = run(argv);
    expect([status, stderr]).toEqual([1, expect.stringMatching(oneLine)]);
    expect(stderr).toContain(name);
  });

  it('refuses a port in use, naming it', async () => {
    const port = String(await listener());
    const { status, stderr } = run(['--data-dir', temporaryFolder(), '--port', port]);
    expect([status, stderr]).toEqual([1, expect.stringMatching(oneLine)]);
    expect(stderr).toContain(port);
  });

  it('reports that Java is missing', () => {
    const argv = ['--data-dir', temporaryFolder(), '--port', '0'];
    const { status, stderr } = run(argv, { JAVA_HOME: '/nowhere' });
    expect([status, stderr]).toEqual([1, expect.stringMatching(oneLine)]);
    expect(stderr).toContain('/nowhere/bin/java');
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
