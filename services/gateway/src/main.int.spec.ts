import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programEnvironment } from '@tollgate/testing';
import { expect, it, onTestFinished } from 'vitest';

const program = join(import.meta.dirname, 'main.ts');

// It printed that it was stopping into a closed pipe, and died of that instead of finishing its work.
it('finishes work under way when the reader of its output is gone', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-main-'));
  const child = spawn(process.execPath, [program, 'projector'], {
    env: { ...programEnvironment(), TOLLGATE_DATA_DIR: dataDir, GATEWAY_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('exit', (...end) => resolve(end)));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(dataDir, { recursive: true });
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (data: Buffer) => {
      if (data.includes('projector: ready')) resolve();
    });
    void ended.then((end) => reject(new Error(`it ended before it was ready: ${String(end)}`)));
  });
  child.stdout.destroy();
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
}, 30_000);
