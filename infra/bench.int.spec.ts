import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

function bench(...argv: string[]) {
  const script = join(import.meta.dirname, 'bench.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...argv], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('npm run bench', () => {
  it('says what the machine is, and measures creations up to the number that is asked for', () => {
    const { status, stdout, stderr } = bench('payment-creations', '--payments', '40');
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^\d+ × .*GiB.*Node 24\./);
    expect(stdout).toMatch(/^ +payments +created\/s/m);
    expect(stdout).toMatch(/^ +40 +[\d,]+ /m);
    expect(stdout).toMatch(/All: [\d,]+ created\/s over 64 connections/);
  });

  it('explains itself', () => {
    expect(bench('--help')).toMatchObject({
      status: 0,
      stderr: '',
      stdout: expect.stringContaining('--payments'),
    });
  });

  it.each([
    [['nothing'], 'nothing'],
    [['--payments', 'many'], '--payments'],
    [['--payments', '0'], '--payments'],
    [['--payments'], '--payments'],
    [['--speed', '9'], '--speed'],
  ])('answers the bad call %j with one sentence that names the argument', (argv, name) => {
    const { status, stderr } = bench(...argv);
    expect([status, stderr]).toEqual([2, expect.stringMatching(/^[^\n]+\.\n$/)]);
    expect(stderr).toContain(name);
  });
});
