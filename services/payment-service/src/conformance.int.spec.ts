/** The sandbox conforms to the specification, and each test of the conformance suite detects a violation. */
import { randomUUID } from 'node:crypto';
import { conformanceTests, runCommand } from '@tollgate/conformance';
import { systemClock } from '@tollgate/service-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHarness, type Harness } from './testing/harness.ts';
import { lies, noSayer, yesSayer } from './testing/lies.ts';
import { disguiseAs, type Lie } from './testing/lying-service.ts';

interface Report {
  exitCode: number;
  output: string;
  complaint: string;
  results: { name: string; outcome: string; reason?: string }[];
}

const service = ['--base-url', 'https://127.0.0.1:4443', '--key', 'sk_sandbox_k'];
const ofProduction = `sk_production_${'0123456789abcdef'.repeat(2)}`;

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.remove());

const newName = () =>
  randomUUID()
    .replaceAll('-', '')
    .replaceAll(/\d/g, (digit) => 'ghijklmnop'.charAt(Number(digit)));

async function run(argv: readonly string[], lie: Lie = {}): Promise<Report> {
  let output = '';
  let complaint = '';
  const exitCode = await runCommand(argv, {
    clock: systemClock,
    newName,
    disguise: disguiseAs(lie, harness),
    print: (text) => (output += text),
    complain: (text) => (complaint += text),
  });
  const results = output.startsWith('{') ? (JSON.parse(output) as Pick<Report, 'results'>).results : [];
  return { exitCode, output, complaint, results };
}

const against = (lie: Lie, ...more: string[]): Promise<Report> => {
  const { httpsUrl, httpUrl, caFile } = harness.addresses();
  const address = ['--base-url', httpsUrl, '--http-url', httpUrl, '--ca', caFile];
  return run([...address, '--key', harness.key(), ...more], lie);
};

const everything = ['--sandbox', '--move-clock', '--other-key', ofProduction, '--json'];
const namesOf = ({ results }: Report, outcome: string) =>
  results.filter((result) => result.outcome === outcome).map(({ name }) => name);
const namesOfAll = conformanceTests.map(({ name }) => name);
const namesWith = (parts: readonly string[]) =>
  namesOfAll.filter((name) => parts.some((part) => name.includes(part)));

describe('the sandbox', () => {
  it('passes every test of the conformance suite', async () => {
    const report = await against({}, ...everything);
    expect(report.results.filter(({ outcome }) => outcome !== 'passed')).toEqual([]);
    expect(report.results).toHaveLength(conformanceTests.length);
    expect(report.exitCode).toBe(0);
  });
});

describe('a violation is detected by the tests of that rule', () => {
  it.each(lies)('$what', async ({ lie, foundBy }) => {
    expect(foundBy.filter((part) => namesWith([part]).length === 0)).toEqual([]);
    const greps = foundBy.flatMap((part) => ['--grep', part]);
    const told = lie({ right: harness.key(), ofProduction });
    const report = await against(told, ...everything, '--patience', '0.4', ...greps);
    expect(report.complaint).toBe('');
    expect(namesOf(report, 'failed')).toEqual(namesWith(foundBy));
    expect(report.exitCode).toBe(1);
    expect(report.output).not.toContain(harness.key());
  });
});

describe('each test fails', () => {
  it('for a service that accepts or refuses every call', async () => {
    const patience = ['--patience', '0.05'];
    const found = new Set([
      ...namesOf(await against(yesSayer, ...everything, ...patience), 'failed'),
      ...namesOf(await against(noSayer, ...everything, ...patience), 'failed'),
    ]);
    expect(namesOfAll.filter((name) => !found.has(name))).toEqual([]);
  });
});

describe('a test without its prerequisites', () => {
  it('is skipped, and reports what it needs', async () => {
    const { results } = await against({}, '--no-callbacks', '--json', '--patience', '0.4');
    expect(results.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    const notRun = results.filter(({ outcome }) => outcome === 'not run');
    const needed = new Set(notRun.map(({ reason = '' }) => /(?:give|leave out) (--.*)$/.exec(reason)?.[1]));
    expect(needed).toEqual(new Set(['--sandbox', '--other-key', '--no-callbacks']));
  });
});

describe('the command', () => {
  it('prints a line per test, and the totals as the last line', async () => {
    const { output, exitCode } = await against({}, '--grep', '§9', '--grep', '§1 flow 2');
    expect(output).toMatch(/^passed {2}§1 flow 2: .* \(\d+ ms\)$/m);
    expect(output.trimEnd().split('\n').at(-1)).toBe('2 passed, 0 failed, 0 not run');
    expect(exitCode).toBe(0);
  });

  it('reports the answer when a test fails, and exits with 1', async () => {
    const { output, exitCode } = await against(yesSayer, '--grep', '§4 POST /api/v1/payments answers');
    expect(output).toContain(
      'The answer should have a text token; POST /api/v1/payments was answered HTTP 200',
    );
    expect(exitCode).toBe(1);
  });

  it('fails the rules on HTTPS for a plain HTTP address', async () => {
    const greps = ['--grep', '§4 all calls use HTTPS', '--grep', '§5 GET /api/v1/payments over plain HTTP'];
    const { httpUrl, caFile } = harness.addresses();
    const argv = ['--base-url', httpUrl, '--ca', caFile, '--key', harness.key(), '--json', ...greps];
    const report = await run(argv, { servesPlainHttp: true });
    expect(namesOf(report, 'failed')).toHaveLength(2);
  });

  it.each([
    [
      'nothing answers',
      () => ['--base-url', 'https://127.0.0.1:1', '--key', 'k'],
      /^Nothing answers at --base-url/,
    ],
    [
      'the certificate is not trusted',
      () => ['--base-url', harness.addresses().httpsUrl, '--key', 'k'],
      /cannot be verified .*--ca\.\n$/,
    ],
    [
      'the key is rejected',
      () => {
        const { httpsUrl, caFile } = harness.addresses();
        return ['--base-url', httpsUrl, '--ca', caFile, '--key', 'sk_sandbox_wrong'];
      },
      /rejects the key of --key/,
    ],
  ])('ends with a sentence and 2 when %s', async (_why, argv, complaint) => {
    const report = await run(argv());
    expect(report.complaint).toMatch(complaint);
    expect(report.exitCode).toBe(2);
  });

  it.each([
    { argv: [], names: '--base-url' },
    { argv: ['--base-url', '127.0.0.1:4443', '--key', 'k'], names: '--base-url' },
    { argv: ['--base-url', 'https://user@x', '--key', 'k'], names: '--base-url' },
    { argv: ['--base-url', 'https://x'], names: '--key' },
    { argv: [...service, '--sandbox-url', 'https://y'], names: '--sandbox-key' },
    { argv: [...service, '--move-clock'], names: '--sandbox' },
    { argv: [...service, '--only', 'some'], names: '--only' },
    { argv: [...service, '--patience', '0'], names: '--patience' },
    { argv: [...service, '--color'], names: '--color' },
    { argv: [...service, '--kye=secret'], names: '--kye' },
    { argv: [...service, 'more'], names: 'arguments' },
  ])('names the argument at fault: $argv', async ({ argv, names }) => {
    const { complaint, exitCode } = await run(argv);
    expect(complaint).toContain(names);
    expect(complaint).not.toContain('secret');
    expect(exitCode).toBe(2);
  });
});
