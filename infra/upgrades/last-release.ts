/** The release before this one, as its tag has it. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { linkInstalled, workspace } from '../copy-workspace.ts';
import { runTool } from '../fetch-once.ts';
import { CannotGoOn } from '../stop-with-sentence.ts';

/**
 * Builds it in the folder, which it gives back. `LAST_RELEASE` may name another commit.
 *
 * @throws CannotGoOn where there is none, or it cannot be installed
 */
export async function buildLastRelease(
  folder: string,
  say: (line: string) => void,
  signal?: AbortSignal,
): Promise<string> {
  const run = async (command: string, ...args: string[]) => {
    const missing = `${command} was not found: install it, then start again.`;
    return runTool({ command, args, missing, signal });
  };
  const commit = process.env['LAST_RELEASE'] ?? (await lastReleaseOf(run));
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

/** Its tag, or where tags were not cloned, the commit that was tagged: its message names the version. */
async function lastReleaseOf(run: Run): Promise<string> {
  const tag = await run('git', '-C', workspace, 'describe', '--tags', '--abbrev=0', '--match=v*');
  if (tag.code === 0) return tag.output.trim();
  const grep = ['--extended-regexp', '--grep=^Release v[0-9]+\\.', '--max-count=1', '--format=%H'];
  const commit = await run('git', '-C', workspace, 'log', ...grep);
  if (commit.code === 0 && commit.output.trim() !== '') return commit.output.trim();
  throw new CannotGoOn(
    'There is no last release: neither a tag like v0.1.0 nor its commit is in this clone. Fetch them: git fetch --unshallow --tags.',
  );
}

async function required(running: ReturnType<typeof runTool>, what: string): Promise<void> {
  const { code, output } = await running;
  if (code !== 0) throw new CannotGoOn(`${what} failed: ${output.trim().split('\n').at(-1) ?? ''}`);
}
