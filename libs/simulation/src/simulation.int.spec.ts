import { fork } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runWatched } from './run-watched.ts';

const seed = 9;

describe('a seed', () => {
  it('gives the same trace in this process and in another one', { timeout: 60_000 }, async () => {
    const [here, again] = [await runWatched(seed), await runWatched(seed)];
    expect(again.traceHash).toBe(here.traceHash);
    expect(await hashElsewhere()).toBe(here.traceHash);
    expect(here.violation).toBeUndefined();
    expect(here.steps).toBeGreaterThan(1_000);
  });
});

function hashElsewhere(): Promise<string | undefined> {
  const child = fork(join(import.meta.dirname, 'main.ts'), ['--seed', String(seed)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  return new Promise((resolve) => {
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('close', () => resolve(/trace (\w+)/.exec(output)?.[1]));
  });
}
