/**
 * `npm run simulate:planted [-- name …]`: plants each bug of planted-bugs.ts in a copy of the sources and
 * simulates until an invariant breaks. A bug that breaks none within its seeds fails the run: the simulation cannot detect it.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type PlantedBug, plantedBugs } from './planted-bugs.ts';
import { copyWorkspace } from '../copy-workspace.ts';
import { CannotContinue, runCommand } from '../stop-with-sentence.ts';

interface Outcome {
  bug: PlantedBug;
  /** Seeds until it was caught; undefined if it was not. */
  seeds: number | undefined;
  by: string | undefined;
  seconds: number;
}

const usage = `npm run simulate:planted -- [<name> …] [--every <n>] [--seeds <n>]

Plants each bug of infra/simulation/planted-bugs.ts in a copy of the sources, and simulates until an invariant breaks. Exit code 1
if a bug is not caught.

  <name> …            only these bugs
  --every <n>         only every n-th bug (1)
  --seeds <n>         maximum number of seeds for each bug, even if the bug states more (1000)
`;

function readCommandLine() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        every: { type: 'string', default: '1' },
        seeds: { type: 'string', default: '1000' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch {
    throw new CannotContinue('Unknown option. See --help.');
  }
}

type Values = ReturnType<typeof readCommandLine>['values'];

function wholeNumber(name: 'every' | 'seeds', values: Values): number {
  const value = Number(values[name]);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new CannotContinue(`--${name} must be a whole number of at least 1.`);
}

function wanted({ values, positionals }: ReturnType<typeof readCommandLine>): PlantedBug[] {
  const unknown = positionals.find((name) => !plantedBugs.some((bug) => bug.name === name));
  if (unknown !== undefined)
    throw new CannotContinue(`Unknown planted bug ${unknown}. infra/simulation/planted-bugs.ts lists them.`);
  const named = plantedBugs.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  const every = wholeNumber('every', values);
  return named.filter((_, index) => index % every === 0);
}

/** Each worker has its own copy, with one bug at a time. */
async function catchFrom(
  queue: PlantedBug[],
  seedsMax: number,
  onOutcome: (outcome: Outcome) => void,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-planted-'));
  try {
    await copyWorkspace(join(folder, 'copy'));
    for (let bug = queue.shift(); bug !== undefined; bug = queue.shift())
      onOutcome(await catchOne(join(folder, 'copy'), bug, seedsMax));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function catchOne(copy: string, bug: PlantedBug, seedsMax: number): Promise<Outcome> {
  const path = join(copy, bug.file);
  const text = readFileSync(path, 'utf8');
  if (text.split(bug.from).length !== 2)
    throw new CannotContinue(
      `${bug.name}: ${bug.file} must contain ${JSON.stringify(bug.from)} exactly once. Update planted-bugs.ts.`,
    );
  const startedAt = performance.now();
  writeFileSync(
    path,
    text.replace(bug.from, () => bug.to),
  );
  try {
    const { seeds, by } = await simulate(copy, Math.min(bug.seeds, seedsMax));
    const seconds = (performance.now() - startedAt) / 1_000;
    return { bug, seeds: by === undefined ? undefined : seeds, by, seconds };
  } finally {
    writeFileSync(path, text);
  }
}

/** The number of seeds that ran, and the invariant that broke. */
function simulate(copy: string, seeds: number): Promise<{ seeds: number; by: string | undefined }> {
  const args = ['libs/simulation/src/main.ts', '--workers', '1', '--seeds', String(seeds)];
  const child = spawn(process.execPath, args, { cwd: copy, stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('close', (code) => {
      const seedsRun = /^(\d+) seeds, .*\n\d+ payments and payouts/m.exec(output)?.[1];
      const by = /^seed \d+ fails: (.+?): /m.exec(output)?.[1];
      if (seedsRun !== undefined) resolve({ seeds: Number(seedsRun), by });
      else reject(new CannotContinue(`The simulation ended with exit code ${code} and without a report.`));
    });
  });
}

async function main(): Promise<number> {
  const given = readCommandLine();
  const { values } = given;
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const outcomes: Outcome[] = [];
  const queue = wanted(given);
  const seedsMax = wholeNumber('seeds', values);
  const count = queue.length;
  const report = (outcome: Outcome) => {
    outcomes.push(outcome);
    const { bug, seeds, by, seconds } = outcome;
    const end = seeds === undefined ? `NOT CAUGHT` : `caught by ${by} after ${seeds} seeds`;
    console.log(`${bug.name} (${bug.breaks}): ${end}, ${seconds.toFixed(0)} s`);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, () => catchFrom(queue, seedsMax, report)));
  const survivors = outcomes.filter(({ seeds }) => seeds === undefined).map(({ bug }) => bug.name);
  console.log(
    `${count - survivors.length} of ${count} planted bugs caught${survivors.length > 0 ? `; not caught: ${survivors.join(', ')}` : ''}`,
  );
  return survivors.length > 0 ? 1 : 0;
}

await runCommand(main);
