/** `npm run test:arrangements`: the end-to-end specs, with the system arranged otherwise than for `npm test`. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localBroker, runWithBroker } from '../kafka/run-with-broker.ts';
import { endOf } from '../run-with-server.ts';
import { CannotGoOn, runCommand } from '../stop-with-sentence.ts';

const workspace = join(import.meta.dirname, '..', '..');
const say = (line: string) => process.stdout.write(`${line}\n`);

/** What `TOLLGATE_ARRANGEMENT` may name; services/gateway/e2e/arrangement.ts says what each is. */
const arrangements = ['services', 'one-process-eventstoredb', 'services-eventstoredb-kafka'] as const;
const onKafka = 'services-eventstoredb-kafka';

const usage = `npm run test:arrangements [-- <arrangement> …] [--outputFile=<file>]

Runs the end-to-end specs with the system in each arrangement that is named, in all where none is:
  services                     a process for each service, on the embedded file
  one-process-eventstoredb     one process, on a server that speaks EventStoreDB's protocol
  services-eventstoredb-kafka  a process for each service, on such a server and on Kafka: the one that KAFKA_BROKERS names,
                               or a local one
`;

/** What of vitest's report the closing lines of CI are made of. */
interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  testResults: { assertionResults: { fullName: string }[] }[];
}

interface CommandLine {
  names: readonly string[];
  outputFile: string | undefined;
}

/** The reporters that CI asks every test command for are those of this one anyway. */
function readCommandLine(argv: readonly string[]): CommandLine {
  const options = argv.filter((argument) => argument.startsWith('--') && !argument.startsWith('--reporter='));
  const named = argv.filter((argument) => !argument.startsWith('--'));
  const unknownOption = options.find((option) => !option.startsWith('--outputFile='));
  if (unknownOption !== undefined)
    throw new CannotGoOn(`There is no option ${unknownOption}; --help lists them.`);
  const unknown = named.find((name) => !(arrangements as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw new CannotGoOn(
      `There is no arrangement ${JSON.stringify(unknown)}; there are ${arrangements.join(', ')}.`,
    );
  const outputFile = options.at(-1)?.slice('--outputFile='.length);
  return { names: named.length === 0 ? arrangements : named, outputFile };
}

/** Gives whether all passed, and the report of the specs. */
async function runArrangement(name: string, report: string, signal: AbortSignal): Promise<boolean> {
  const vitest = join(workspace, 'node_modules', 'vitest', 'vitest.mjs');
  const config = ['--root', workspace, '--project', 'arrangements'];
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile=${report}`];
  const argv = [vitest, 'run', ...config, ...reporters];
  process.env['TOLLGATE_ARRANGEMENT'] = name;
  const brokers = process.env['KAFKA_BROKERS'] ?? '';
  if (name === onKafka && brokers === '')
    return (await runWithBroker({ obtainServer: localBroker(say), argv, signal })) === 0;
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'inherit', 'inherit'] });
  const end = () => void child.kill('SIGTERM');
  signal.addEventListener('abort', end, { once: true });
  const exitCode = await endOf(child);
  signal.removeEventListener('abort', end);
  return exitCode === 0;
}

const nothing: Report = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, testResults: [] };

const readReport = (file: string): Report =>
  existsSync(file) ? { ...nothing, ...(JSON.parse(readFileSync(file, 'utf8')) as Report) } : nothing;

/** The same tests ran in several arrangements: their names say in which. */
const namedIn = (arrangement: string, { testResults }: Report): Report['testResults'] =>
  testResults.map((file) => ({
    ...file,
    assertionResults: file.assertionResults.map((test) => ({
      ...test,
      fullName: `${test.fullName} (${arrangement})`,
    })),
  }));

const sumOf = (all: readonly Report[]): Report => ({
  numPassedTests: all.reduce((sum, report) => sum + report.numPassedTests, 0),
  numFailedTests: all.reduce((sum, report) => sum + report.numFailedTests, 0),
  numPendingTests: all.reduce((sum, report) => sum + report.numPendingTests, 0),
  testResults: all.flatMap(({ testResults }) => testResults),
});

await runCommand(async (signal) => {
  if (process.argv.includes('--help')) {
    process.stdout.write(usage);
    return 0;
  }
  const { names, outputFile } = readCommandLine(process.argv.slice(2));
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-arrangements-'));
  const lines: string[] = [];
  const all: Report[] = [];
  let isGood = true;
  for (const name of names) {
    if (signal.aborted) break;
    const startedAt = performance.now();
    const reportFile = join(folder, `${name}.json`);
    const hasPassed = await runArrangement(name, reportFile, signal);
    const report = readReport(reportFile);
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    all.push({ ...report, testResults: namedIn(name, report) });
    isGood &&= hasPassed;
    lines.push(
      `${name}: ${report.numPassedTests} passed, ${report.numFailedTests} failed, ${report.numPendingTests} skipped, ${seconds} s${hasPassed ? '' : ' — FAILED'}`,
    );
  }
  rmSync(folder, { recursive: true, force: true });
  if (outputFile !== undefined) writeFileSync(outputFile, JSON.stringify(sumOf(all)));
  for (const line of lines) say(line);
  return isGood && !signal.aborted ? 0 : 1;
});
