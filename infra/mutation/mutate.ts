/**
 * `npm run mutate [-- <file> …]`: changes the domain in a copy, one place at a time, and runs its specs on each change. A
 * change that no spec detects is a rule without a spec. Ends with 1 where more than a tenth of the changes go unnoticed.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { copyWorkspace, workspace } from '../copy-workspace.ts';
import { CannotGoOn, runCommand } from '../stop-with-sentence.ts';

const usage = `npm run mutate [-- <file> …] [--concurrency <n>]

Changes libs/core/src/domain in a copy of the workspace, one place at a time (a condition turned round, a text emptied, a call
left out), and runs the specs of the domain on each change. Prints what no spec noticed. Installs what it needs beside the copy.

  <file> …           only these files, as paths below libs/core/src/domain; all: an hour or two
  --concurrency <n>  how many changes are tried at once (1)
`;

/** Of the changes, how many a spec has to notice. */
const noticedAtLeast = 0.9;
const domain = 'libs/core/src/domain';

/** What of the report is read. */
interface Report {
  files: Record<string, { source: string; mutants: Mutant[] }>;
}
interface Mutant {
  status: 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage' | 'Ignored' | 'CompileError' | 'RuntimeError';
  mutatorName: string;
  replacement?: string;
  location: { start: { line: number; column: number } };
}

function readCommandLine(argv: string[]): { files: string[]; concurrency: number } | undefined {
  const options = { help: { type: 'boolean' }, concurrency: { type: 'string', default: '1' } } as const;
  let given: ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>>;
  try {
    given = parseArgs({ args: argv, options, allowPositionals: true });
  } catch {
    throw new CannotGoOn('There is no such option; --help lists them.');
  }
  const { values, positionals: files } = given;
  if (values.help === true) return undefined;
  const missing = files.find((file) => !existsSync(join(workspace, domain, file)));
  if (missing !== undefined) throw new CannotGoOn(`There is no file ${missing} in ${domain}.`);
  const concurrency = Number(values.concurrency);
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new CannotGoOn('--concurrency must be a whole number of at least 1.');
  return { files, concurrency };
}

/** The specs of the domain alone: no I/O, one process. Changes that never end are stopped by the runner, not by vitest. */
const vitestConfig = `export default {
  test: { include: ['${domain}/**/*.spec.ts'], isolate: false, testTimeout: 600_000 },
};
`;

const settingsFor = (files: readonly string[], concurrency: number, report: string) => ({
  testRunner: 'vitest',
  vitest: { configFile: 'mutation.config.mjs', related: false },
  plugins: ['@stryker-mutator/vitest-runner'],
  mutate:
    files.length > 0
      ? files.map((file) => `${domain}/${file}`)
      : [`${domain}/**/*.ts`, `!${domain}/**/*.spec.ts`, `!${domain}/index.ts`],
  coverageAnalysis: 'perTest',
  // What runs once, when its file is loaded, would need a process for each change.
  ignoreStatic: true,
  inPlace: true,
  concurrency,
  reporters: ['json', 'progress-append-only'],
  jsonReporter: { fileName: report },
  disableTypeChecks: false,
  allowEmpty: false,
});

function run(command: string, args: readonly string[], cwd: string, signal: AbortSignal): Promise<void> {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'], signal });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new CannotGoOn(`${command} ${args[0] ?? ''} ended with ${code}.`)),
    );
  });
}

const isNoticed = ({ status }: Mutant) => status === 'Killed' || status === 'Timeout';
const isUnnoticed = ({ status }: Mutant) => status === 'Survived' || status === 'NoCoverage';

/** Prints what went unnoticed, and gives the share that was noticed. */
function tell({ files }: Report): number {
  const all = { noticed: 0, unnoticed: 0 };
  for (const [file, { source, mutants }] of Object.entries(files)) {
    const unnoticed = mutants.filter(isUnnoticed);
    const noticed = mutants.filter(isNoticed).length;
    if (noticed + unnoticed.length === 0) continue;
    all.noticed += noticed;
    all.unnoticed += unnoticed.length;
    console.log(`${file}: ${noticed} of ${noticed + unnoticed.length} changes noticed`);
    const lines = source.split('\n');
    for (const { location, mutatorName, replacement = '' } of unnoticed)
      console.log(
        `  ${location.start.line}: ${(lines[location.start.line - 1] ?? '').trim()}  <- ${mutatorName} ${replacement.split('\n')[0] ?? ''}`,
      );
  }
  const share = all.noticed / Math.max(1, all.noticed + all.unnoticed);
  console.log(
    `${all.noticed} of ${all.noticed + all.unnoticed} changes noticed: ${(100 * share).toFixed(1)} %`,
  );
  return share;
}

async function main(signal: AbortSignal): Promise<number> {
  const wanted = readCommandLine(process.argv.slice(2));
  if (wanted === undefined) {
    console.log(usage);
    return 0;
  }
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-mutation-'));
  try {
    const copy = join(folder, 'copy');
    await copyWorkspace(copy);
    const own = join(copy, 'infra', 'mutation');
    await run('npm', ['ci', '--no-audit', '--no-fund', '--silent'], own, signal);
    writeFileSync(join(copy, 'mutation.config.mjs'), vitestConfig);
    const report = join(folder, 'report.json');
    const settings = join(own, 'settings.json');
    writeFileSync(settings, JSON.stringify(settingsFor(wanted.files, wanted.concurrency, report)));
    await run(join(own, 'node_modules', '.bin', 'stryker'), ['run', settings], copy, signal);
    return tell(JSON.parse(readFileSync(report, 'utf8')) as Report) >= noticedAtLeast ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await runCommand(main);
