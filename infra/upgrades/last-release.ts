/** The release before this one, as its tag has it, if this one reads its stored format. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { linkInstalled, workspace } from '../copy-workspace.ts';
import { runTool } from '../fetch-once.ts';
import { CannotContinue } from '../stop-with-sentence.ts';

/** The first release whose stored format this one reads. */
const oldestReadable = [0, 2, 0] as const;

/**
 * Builds it in the folder and returns the folder; undefined before the first release that this one can read.
 * `LAST_RELEASE` may name another commit.
 *
 * @throws CannotContinue if it cannot be found or installed
 */
export async function buildLastRelease(
  folder: string,
  say: (line: string) => void,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const run = async (command: string, ...args: string[]) => {
    const missing = `${command} was not found: install it, then start again.`;
    return runTool({ command, args, missing, signal });
  };
  const commit = process.env['LAST_RELEASE'] ?? (await lastReleaseOf(run));
  if (commit === undefined) {
    say(
      `No release before this one has a stored format that this one reads: the first will be v${oldestReadable.join('.')}. Only this release and the next one are tested.`,
    );
    return undefined;
  }
  mkdirSync(folder, { recursive: true });
  const archive = join(folder, '..', 'last.tar');
  await required(
    run('git', '-C', workspace, 'archive', `--output=${archive}`, commit),
    `git archive ${commit}`,
  );
  await required(run('tar', '-xf', archive, '-C', folder), 'tar');
  say(`The last release is ${commit}.`);
  const lockOf = (root: string) => readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (lockOf(folder) === lockOf(workspace)) await linkInstalled(folder);
  else {
    say('It has other dependencies: installing them …');
    await required(run('npm', 'ci', '--prefix', folder, '--no-audit', '--no-fund'), 'npm ci');
  }
  return folder;
}

type Run = (command: string, ...args: string[]) => ReturnType<typeof runTool>;

/** The commit of the last release that this one reads, by its tag, or by its message in a clone without tags. */
async function lastReleaseOf(run: Run): Promise<string | undefined> {
  const tag = await run('git', '-C', workspace, 'describe', '--tags', '--abbrev=0', '--match=v*');
  const grep = ['--extended-regexp', '--grep=^Release v[0-9]+\\.', '--max-count=1', '--format=%H %s'];
  const found = tag.code === 0 ? tag : await run('git', '-C', workspace, 'log', ...grep);
  const [, major, minor, patch] = /\bv(\d+)\.(\d+)\.(\d+)/.exec(found.output) ?? [];
  if (found.code !== 0 || patch === undefined)
    throw new CannotContinue(
      'This clone contains neither the tag nor the commit of any release. Fetch them: git fetch --unshallow --tags.',
    );
  const version = [major, minor, patch].map(Number);
  const difference = version
    .map((part, place) => part - (oldestReadable[place] ?? 0))
    .find((step) => step !== 0);
  return (difference ?? 0) < 0 ? undefined : found.output.trim().split(' ')[0];
}

async function required(running: ReturnType<typeof runTool>, what: string): Promise<void> {
  const { code, output } = await running;
  if (code !== 0) throw new CannotContinue(`${what} failed: ${output.trim().split('\n').at(-1) ?? ''}`);
}
