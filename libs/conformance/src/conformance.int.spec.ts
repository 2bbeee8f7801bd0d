/** The tests of the tests: they find nothing wrong with a correct service, and each of them finds a service that lies. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from './command.ts';
import {
  fakeKey,
  fakeProductionKey,
  makeCertificate,
  startFakeService,
  type FakeCertificate,
  type Lie,
} from './testing/fake-service.ts';
import { lies, noSayer, yesSayer } from './testing/lies.ts';
import { conformanceTests } from './tests/all.ts';

interface Report {
  exitCode: number;
  output: string;
  complaint: string;
  results: { name: string; outcome: string; reason?: string }[];
}

let folder: string;
let certificate: FakeCertificate;
let caFile: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'conformance-'));
  certificate = await makeCertificate();
  caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, certificate.cert);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const newName = () =>
  randomUUID()
    .replaceAll('-', '')
    .replaceAll(/\d/g, (digit) => 'ghijklmnop'.charAt(Number(digit)));

async function run(argv: readonly string[]): Promise<Report> {
  let output = '';
  let complaint = '';
  const exitCode = await runCommand(argv, {
    clock: { now: () => Date.now(), sleep: (durationMs, signal) => delay(durationMs, undefined, { signal }) },
    newName,
    environment: {},
    print: (text) => (output += text),
    complain: (text) => (complaint += text),
  });
  const results = output.startsWith('{') ? (JSON.parse(output) as Pick<Report, 'results'>).results : [];
  return { exitCode, output, complaint, results };
}

async function against(lie: Lie, more: readonly string[]): Promise<Report> {
  const service = await startFakeService(certificate, lie);
  try {
    const address = ['--base-url', service.baseUrl, '--http-url', service.httpUrl, '--ca', caFile];
    return await run([...address, '--key', fakeKey, ...more]);
  } finally {
    await service.close();
  }
}

const everything = ['--sandbox', '--move-clock', '--other-key', fakeProductionKey, '--json'];
const namesOf = ({ results }: Report, outcome: string) =>
  results.filter((result) => result.outcome === outcome).map(({ name }) => name);
const namesOfAll = conformanceTests.map(({ name }) => name);

describe('a correct service', () => {
  it('passes every test', { timeout: 60_000 }, async () => {
    const report = await against({}, everything);
    expect(report.results.filter(({ outcome }) => outcome !== 'passed')).toEqual([]);
    expect(report.results).toHaveLength(conformanceTests.length);
    expect(report.exitCode).toBe(0);
  });
});

describe('a service that lies is found by the test that is about it', () => {
  it.each(lies)('$what', async ({ lie, foundBy }) => {
    for (const name of foundBy) expect(namesOfAll).toContain(name);
    const greps = foundBy.flatMap((name) => ['--grep', name]);
    const report = await against(lie(), [...everything, '--patience', '0.4', ...greps]);
    expect(report.complaint).toBe('');
    expect(namesOf(report, 'failed')).toEqual(expect.arrayContaining([...foundBy]));
    expect(report.exitCode).toBe(1);
    expect(report.output).not.toContain(fakeKey);
  });
});

describe('a service at a plain HTTP address', () => {
  it('breaks the rules that demand HTTPS, without --http-url', async () => {
    const service = await startFakeService(certificate, { servesPlainHttp: true });
    const greps = ['--grep', '§4 all calls use HTTPS', '--grep', '§5 GET /api/v1/payments over plain HTTP'];
    const report = await run(['--base-url', service.httpUrl, '--key', fakeKey, '--json', ...greps]);
    await service.close();
    expect(namesOf(report, 'failed')).toHaveLength(2);
  });
});

describe('each test can fail', () => {
  it(
    'by a planted lie, or by a service that says yes or no to everything',
    { timeout: 120_000 },
    async () => {
      const patience = ['--patience', '0.05'];
      const found = new Set([
        ...lies.flatMap(({ foundBy }) => foundBy),
        ...namesOf(await against(yesSayer, [...everything, ...patience]), 'failed'),
        ...namesOf(await against(noSayer, [...everything, ...patience]), 'failed'),
      ]);
      expect(namesOfAll.filter((name) => !found.has(name))).toEqual([]);
    },
  );
});

describe('a test whose needs are not met is not run', () => {
  it('and says what it needs', async () => {
    const report = await against({}, ['--no-callbacks', '--json', '--patience', '0.4']);
    const results = new Map(report.results.map((result) => [result.name, result]));
    for (const { name, needs } of conformanceTests.filter((test) => test.needs.length > 0)) {
      const result = results.get(name);
      const isMet = needs.every((need) => need === 'plainHttp');
      expect({ name, outcome: result?.outcome }).toEqual({ name, outcome: isMet ? 'passed' : 'not run' });
      if (!isMet) expect(result?.reason).toMatch(/^needs .*: (give|leave out) --/);
    }
  });

  it('when there is no money in the account and the clock may not be moved', async () => {
    const name = '§4 POST /api/v1/refunds refunds a payment in full when no amount is passed';
    const report = await against({}, ['--sandbox', '--json', '--grep', name]);
    expect(report.results).toMatchObject([{ name, outcome: 'not run' }]);
    expect(report.exitCode).toBe(0);
  });
});

describe('the command', () => {
  it('prints a line for each test, a table by section, and the totals as the last line', async () => {
    const { output, exitCode } = await against({}, ['--grep', '§9', '--grep', '§1 flow 1']);
    expect(output).toMatch(/^passed {2}§1 flow 1, 2: .* \(\d+ ms\)$/m);
    expect(output).toMatch(/^§9 Versioning +1 +0 +0$/m);
    expect(output.trimEnd().split('\n').at(-1)).toBe('2 passed, 0 failed, 0 not run');
    expect(exitCode).toBe(0);
  });

  it('says what was answered where a test fails', async () => {
    const { output, exitCode } = await against(yesSayer, ['--grep', '§4 POST /api/v1/payments answers']);
    expect(output).toContain(
      'The answer should have a text token; POST /api/v1/payments was answered HTTP 200',
    );
    expect(output.trimEnd().split('\n').at(-1)).toBe('0 passed, 1 failed, 0 not run');
    expect(exitCode).toBe(1);
  });

  it('ends with a sentence and 2 where nothing answers', async () => {
    const report = await run(['--base-url', 'https://127.0.0.1:1', '--key', fakeKey]);
    expect(report.complaint).toMatch(/^Nothing answers at --base-url https:\/\/127\.0\.0\.1:1 \(\w+\).*\n$/);
    expect(report.exitCode).toBe(2);
  });

  it('ends with a sentence and 2 where the certificate is not trusted', async () => {
    const service = await startFakeService(certificate);
    const report = await run(['--base-url', service.baseUrl, '--key', fakeKey]);
    await service.close();
    expect(report.complaint).toMatch(/^The certificate of --base-url .* cannot be verified .*--ca\.\n$/);
    expect(report.exitCode).toBe(2);
  });

  it('ends with a sentence and 2 where the key is rejected', async () => {
    const report = await against({}, ['--key', 'sk_sandbox_wrong']);
    expect(report.complaint).toMatch(/rejects the key of --key/);
    expect(report.exitCode).toBe(2);
  });

  it('ends with 2 where the time is over, and never calls that a pass', async () => {
    const { output, exitCode } = await against({}, ['--timeout', '0.001']);
    expect(output).toContain('the time for the whole run is over');
    expect(exitCode).toBe(2);
  });
});
