/**
 * `npm run mutate [-- <file> …]`: mutation testing of the domain, in a copy. A mutant that survives its specs is a rule without
 * a spec. Exit code 1 if more than 8 % of the mutants survive.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { copyWorkspace, workspace } from '../copy-workspace.ts';
import { CannotContinue, runCommand } from '../stop-with-sentence.ts';

const usage = `npm run mutate [-- <file> …] [--concurrency <n>]

Mutation testing of libs/core/src/domain and libs/books/src, in a copy of the workspace. Each mutant has one change, such as a
negated condition, an empty text or a removed call. Runs their specs on each, and prints the survivors. Installs its tools in the copy.

  <file> …           only these files, as paths below these folders. All files take an hour or two
  --concurrency <n>  number of mutants tested at the same time (1)
`;

/** Minimum share of mutants that the specs must detect. */
const noticedAtLeast = 0.92;
const folders = ['libs/core/src/domain', 'libs/books/src'];

/** The part of the report that is read. */
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
    throw new CannotContinue('Unknown option. See --help.');
  }
  const { values, positionals } = given;
  if (values.help === true) return undefined;
  const files = positionals.map(pathOf);
  const concurrency = Number(values.concurrency);
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new CannotContinue('--concurrency must be a whole number of at least 1.');
  return { files, concurrency };
}

/** @throws CannotContinue */
function pathOf(file: string): string {
  const path = folders.map((folder) => `${folder}/${file}`).find((each) => existsSync(join(workspace, each)));
  if (path === undefined) throw new CannotContinue(`There is no file ${file} in ${folders.join(' or ')}.`);
  return path;
}

/** The specs of the domain alone: no I/O, one process. Stryker, not vitest, stops mutants that never end. */
const vitestConfig = `export default {
  test: { include: ${JSON.stringify(folders.map((folder) => `${folder}/**/*.spec.ts`))}, isolate: false, testTimeout: 600_000 },
};
`;

const settingsFor = (files: readonly string[], concurrency: number, report: string) => ({
  testRunner: 'vitest',
  vitest: { configFile: 'mutation.config.mjs', related: false },
  plugins: ['@stryker-mutator/vitest-runner'],
  mutate:
    files.length > 0
      ? files
      : [
          ...folders.flatMap((folder) => [
            `${folder}/**/*.ts`,
            `!${folder}/**/*.spec.ts`,
            `!${folder}/index.ts`,
          ]),
          // It does I/O. The specs of adoption and reconciliation test it.
          '!libs/books/src/unmatched-operations.ts',
        ],
  coverageAnalysis: 'perTest',
  // Code that runs once, at import, would need a process for each mutant.
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
      code === 0 ? resolve() : reject(new CannotContinue(`${command} ${args[0] ?? ''} ended with ${code}.`)),
    );
  });
}

const isNoticed = ({ status }: Mutant) => status === 'Killed' || status === 'Timeout';
const isUnnoticed = ({ status }: Mutant) => status === 'Survived' || status === 'NoCoverage';

/** Prints the surviving mutants, and returns the share that was detected. */
function report({ files }: Report): number {
  const all = { noticed: 0, unnoticed: 0 };
  for (const [file, { source, mutants }] of Object.entries(files)) {
    const unnoticed = mutants.filter(isUnnoticed);
    const noticed = mutants.filter(isNoticed).length;
    if (noticed + unnoticed.length === 0) continue;
    all.noticed += noticed;
    all.unnoticed += unnoticed.length;
    console.log(`${file}: ${noticed} of ${noticed + unnoticed.length} mutants detected`);
    const lines = source.split('\n');
    for (const { location, mutatorName, replacement = '' } of unnoticed)
      console.log(
        `  ${location.start.line}: ${(lines[location.start.line - 1] ?? '').trim()}  <- ${mutatorName} ${replacement.split('\n')[0] ?? ''}`,
      );
  }
  const share = all.noticed / Math.max(1, all.noticed + all.unnoticed);
  console.log(
    `${all.noticed} of ${all.noticed + all.unnoticed} mutants detected: ${(100 * share).toFixed(1)} %`,
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
    const file = join(folder, 'report.json');
    const settings = join(own, 'settings.json');
    writeFileSync(settings, JSON.stringify(settingsFor(wanted.files, wanted.concurrency, file)));
    await run(join(own, 'node_modules', '.bin', 'stryker'), ['run', settings], copy, signal);
    return report(JSON.parse(readFileSync(file, 'utf8')) as Report) >= noticedAtLeast ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await runCommand(main);
