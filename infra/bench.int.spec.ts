import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

function bench(...argv: string[]) {
  const script = join(import.meta.dirname, 'bench.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...argv], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('npm run bench', () => {
  it('explains itself', () => {
    expect(bench('--help')).toMatchObject({
      status: 0,
      stderr: '',
      stdout: expect.stringContaining('--payments'),
    });
  });

  it.each([
    [['nothing'], 'nothing'],
    [['ledger', '--payments', '0'], '--payments'],
  ])('answers the bad call %j with one sentence that names the argument', (argv, name) => {
    const { status, stderr } = bench(...argv);
    expect([status, stderr]).toEqual([2, expect.stringMatching(/^[^\n]+\.\n$/)]);
    expect(stderr).toContain(name);
  });
});
