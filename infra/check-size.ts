/** `npm run size`: counts the lines of the project by kind. Exit code 1 if a kind has more than its limit (decision 25). */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Lines, by kind. The core is part of the source. */
const limits = { source: 69_000, core: 8_500, tests: 70_000, simulation: 5_500 } as const;
type Kind = keyof typeof limits;

const support = /\.(spec|contract|browser)\.ts$|\/(testing|bench|e2e)\//;

/** The kinds as which the lines of a file count; none outside of `libs` and `services`. */
export function kindsOf(path: string): readonly Kind[] {
  if (!/^(libs|services)\/.*\.ts$/.test(path)) return [];
  if (support.test(path)) return ['tests'];
  if (path.startsWith('libs/simulation/')) return ['simulation'];
  return path.startsWith('libs/core/') ? ['source', 'core'] : ['source'];
}

function main(): number {
  const workspace = join(import.meta.dirname, '..');
  const lines = { source: 0, core: 0, tests: 0, simulation: 0 };
  const paths = execFileSync('git', ['ls-files'], { cwd: workspace, encoding: 'utf8' }).split('\n');
  for (const path of paths)
    for (const kind of kindsOf(path))
      lines[kind] += readFileSync(join(workspace, path), 'utf8').split('\n').length - 1;
  const kinds = Object.keys(limits) as Kind[];
  for (const kind of kinds) {
    const excess = lines[kind] - limits[kind];
    const problem = excess > 0 ? `: ${excess} too many` : '';
    console.log(`${kind}: ${lines[kind]} lines of at most ${limits[kind]}${problem}`);
  }
  return kinds.some((kind) => lines[kind] > limits[kind]) ? 1 : 0;
}

if (import.meta.main) process.exitCode = main();
