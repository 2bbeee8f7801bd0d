import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ci-total-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function ciTotal(...steps: { status: number; report?: Record<string, unknown> }[]) {
  steps.forEach(({ status, report }, index) => {
    writeFileSync(join(folder, `${index}.name`), `step ${index}\n`);
    writeFileSync(join(folder, `${index}.status`), `${status}\n`);
    if (report !== undefined) writeFileSync(join(folder, `${index}.json`), JSON.stringify(report));
  });
  const script = join(import.meta.dirname, 'ci-total.mjs');
  const { status, stdout } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' });
  return { status, lines: stdout.trimEnd().split('\n') };
}

it('adds up the tests of all steps', () => {
  const steps = [
    { status: 0, report: { numPassedTests: 40 } },
    { status: 0 },
    { status: 0, report: { numPassedTests: 2 } },
  ];
  expect(ciTotal(...steps)).toEqual({ status: 0, lines: ['42 passed, 0 failed'] });
});

it('counts failed tests once, although their step failed too', () => {
  expect(ciTotal({ status: 1, report: { numPassedTests: 40, numFailedTests: 3 } })).toEqual({
    status: 1,
    lines: ['failed steps: step 0', '40 passed, 3 failed'],
  });
});

it('counts a step that failed without a failing test, or before any test ran', () => {
  const steps = [{ status: 1, report: { numPassedTests: 40, numFailedTests: 0 } }, { status: 2 }];
  expect(ciTotal(...steps)).toEqual({
    status: 1,
    lines: ['failed steps: step 0, step 1', '40 passed, 2 failed'],
  });
});

it('names failed tests, and files that could not be loaded, each with the first line of the error', () => {
  const passed = { status: 'passed', fullName: 'adds', failureMessages: [] };
  const failed = {
    status: 'failed',
    fullName: 'sums > adds',
    failureMessages: ['expected 3 to be 4\n  at x'],
  };
  const testResults = [
    { name: join(process.cwd(), 'libs/a.spec.ts'), status: 'failed', assertionResults: [passed, failed] },
    { name: join(process.cwd(), 'libs/b.spec.ts'), status: 'failed', message: 'no such module' },
    { name: join(process.cwd(), 'libs/c.spec.ts'), status: 'passed', assertionResults: [passed] },
  ];
  const report = { numPassedTests: 2, numFailedTests: 1, testResults };
  expect(ciTotal({ status: 1, report }).lines).toEqual([
    'failed: libs/a.spec.ts > sums > adds: expected 3 to be 4',
    'failed: libs/b.spec.ts: no such module',
    'failed steps: step 0',
    '2 passed, 1 failed',
  ]);
});

it('does not hide skipped tests', () => {
  expect(
    ciTotal({ status: 0, report: { numPassedTests: 1, numPendingTests: 2, numTodoTests: 1 } }).lines,
  ).toEqual(['3 skipped', '1 passed, 0 failed']);
});

it('fails when nothing was tested', () => {
  expect(ciTotal({ status: 0 })).toEqual({ status: 1, lines: ['0 passed, 0 failed'] });
});
