/**
 * Violates every lint rule that the design depends on, once, and checks that `npm run lint` reports it under the rule's name.
 * A rule can stop working silently: another config block replaces its options, a glob stops matching, or the project graph
 * is missing. The result looks like clean code. Only a planted fault shows the difference.
 *
 * The faults are planted in a copy of the workspace, so an interruption leaves nothing behind.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { ESLint } from 'eslint';
import { copyWorkspace, workspace } from './copy-workspace.ts';
import { allowed, faults, type Canary } from './lint-canary-list.ts';

interface LintedFile {
  filePath: string;
  messages: { ruleId: string | null; severity: number; message: string }[];
}

const errorSeverity = 2;

async function plant(copy: string, canary: Canary): Promise<void> {
  const path = join(copy, canary.file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${canary.code}\n`);
}

/** Runs the command that CI runs, on the canaries only. */
async function lint(copy: string, files: string[], signal: AbortSignal): Promise<LintedFile[]> {
  const child = spawn('npm', ['run', '--silent', 'lint', '--', '--format=json', ...files], {
    cwd: copy,
    env: { ...process.env, NX_DAEMON: 'false', NX_NO_CLOUD: 'true' },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const exitCode = await new Promise((resolve, reject) => child.on('close', resolve).on('error', reject));
  const report = output.split('\n').find((line) => line.startsWith('[{"filePath":'));
  if (exitCode === 0 || report === undefined)
    throw new Error(`npm run lint ended with ${String(exitCode)}:\n${output}`);
  return JSON.parse(report) as LintedFile[];
}

/** How lint misjudged the canary, or undefined. */
function misjudged(canary: Canary, files: LintedFile[], isFault: boolean): string | undefined {
  const file = files.find(({ filePath }) => filePath.endsWith(`/${canary.file}`));
  if (file === undefined) return 'was not linted';
  const hits = file.messages.filter(
    ({ ruleId, severity }) => ruleId === canary.rule && severity === errorSeverity,
  );
  if (!isFault) return hits[0] && `was refused: ${hits[0].message}`;
  if (hits.length === 0) return `was let through; reported: ${JSON.stringify(file.messages)}`;
  const { says } = canary;
  return says === undefined || hits.some(({ message }) => message.includes(says))
    ? undefined
    : `was refused for another reason: ${hits[0]?.message ?? ''}`;
}

/** Our policies without a canary. */
async function policiesWithoutFault(): Promise<string[]> {
  const eslint = new ESLint({ cwd: workspace });
  const config = (await eslint.calculateConfigForFile(import.meta.filename)) as {
    plugins: { tollgate: { rules: object } };
  };
  const policies = Object.keys(config.plugins.tollgate.rules).map((name) => `tollgate/${name}`);
  return policies.filter((policy) => !faults.some(({ rule }) => rule === policy));
}

function judge(canary: Canary, files: LintedFile[], isFault: boolean): boolean {
  const complaint = misjudged(canary, files, isFault);
  const verdict = complaint === undefined ? (isFault ? 'refused' : 'allowed') : 'WRONG  ';
  const [firstLine = ''] = canary.code.split('\n');
  console.log(`${verdict}  ${canary.rule}  ${dirname(canary.file)}  ${firstLine}`);
  if (complaint !== undefined) console.log(`         It ${complaint}`);
  return complaint === undefined;
}

async function lintPlanted(canaries: Canary[], signal: AbortSignal): Promise<LintedFile[]> {
  const copy = await mkdtemp(join(tmpdir(), 'tollgate-lint-canaries-'));
  try {
    await copyWorkspace(copy);
    for (const canary of canaries) await plant(copy, canary);
    return await lint(copy, [...new Set(canaries.map(({ file }) => file))], signal);
  } finally {
    await rm(copy, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

async function run(signal: AbortSignal, reportFile: string | undefined): Promise<void> {
  const files = await lintPlanted([...faults, ...allowed], signal);
  const judgements = [
    ...faults.map((canary) => judge(canary, files, true)),
    ...allowed.map((canary) => judge(canary, files, false)),
  ];
  for (const policy of await policiesWithoutFault()) {
    console.log(`WRONG    ${policy} has no canary in lint-canary-list.ts`);
    judgements.push(false);
  }
  const numPassedTests = judgements.filter((isRight) => isRight).length;
  const numFailedTests = judgements.length - numPassedTests;
  console.log(`${numPassedTests} canaries judged rightly, ${numFailedTests} wrongly`);
  if (reportFile !== undefined)
    await writeFile(reportFile, JSON.stringify({ numPassedTests, numFailedTests }));
  if (numFailedTests > 0) process.exitCode = 1;
}

const { values: options } = parseArgs({ options: { outputFile: { type: 'string' } } });
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
try {
  await run(interrupted.signal, options.outputFile);
} catch (error) {
  if (!interrupted.signal.aborted) throw error;
  process.exitCode = 130;
}
