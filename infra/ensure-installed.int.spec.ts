import { spawn } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

/** A workspace with one dependency, and one more for another platform. */
const locked = {
  '': { name: 'example' },
  'node_modules/one': { version: '1.0.0' },
  'node_modules/elsewhere': { version: '1.0.0', optional: true },
  'node_modules/@example/linked': { resolved: 'libs/linked', link: true },
};
const { 'node_modules/one': one, 'node_modules/@example/linked': linked } = locked;
const installed = { 'node_modules/one': one, 'node_modules/@example/linked': linked };

let workspace: string;
let machine: string;
beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'ensure-installed-'));
  machine = join(workspace, 'machine');
  for (const folder of ['infra', 'machine', 'node_modules/.bin', '.cache']) {
    await mkdir(join(workspace, folder), { recursive: true });
  }
  await copyFile(
    join(import.meta.dirname, 'ensure-installed.mjs'),
    join(workspace, 'infra/ensure-installed.mjs'),
  );
  await writeJson('package.json', {
    engines: { node: '>=20', npm: '>=10' },
    dependencies: { node: '^24.0.0' },
  });
  await writeJson('package-lock.json', { lockfileVersion: 3, packages: locked });
  await writeJson('node_modules/.package-lock.json', { packages: installed });
  await symlink(process.execPath, join(workspace, 'node_modules/.bin/node'));
  await putOnMachine('node', 'echo v20.0.0');
  await putOnMachine(
    'npm',
    `if [ "$1" = --version ]; then echo 11.0.0; else echo "$@" >> ${machine}/calls; fi`,
  );
});
afterEach(() => rm(workspace, { recursive: true, force: true }));

const writeJson = (path: string, value: unknown) => writeFile(join(workspace, path), JSON.stringify(value));

async function putOnMachine(program: string, script: string) {
  await writeFile(join(machine, program), `#!/bin/sh\n${script}\n`);
  await chmod(join(machine, program), 0o755);
}

const npmCalls = async () => {
  const calls = await readFile(join(machine, 'calls'), 'utf8').catch(() => '');
  return calls.split('\n').filter((line) => line !== '');
};

/** Starts the script, and returns its output so far and its exit. */
function start(env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['infra/ensure-installed.mjs'], {
    cwd: workspace,
    env: { PATH: `${machine}:/usr/bin:/bin`, HOME: workspace, ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)));
  const lines = () => output.split('\n').filter((line) => line !== '');
  const exitCode = new Promise((resolve) => child.on('close', resolve));
  return { lines, pid: child.pid, ended: exitCode.then((code) => ({ exitCode: code, lines: lines() })) };
}

const ensureInstalled = (env?: Record<string, string>) => start(env).ended;

describe('when to install', () => {
  it('does nothing, and prints nothing, when all locked packages are installed', async () => {
    expect(await ensureInstalled()).toEqual({ exitCode: 0, lines: [] });
    expect(await npmCalls()).toEqual([]);
  });

  const outdated = {
    'nothing is installed': undefined,
    'another version is installed': { ...installed, 'node_modules/one': { version: '0.9.0' } },
    'a package is missing': { ...installed, 'node_modules/one': undefined },
    'a package of the workspace is not linked': { ...installed, 'node_modules/@example/linked': undefined },
    'a package is left over': { ...installed, 'libs/linked/node_modules/one': { version: '0.9.0' } },
  };
  for (const [situation, packages] of Object.entries(outdated)) {
    it(`installs when ${situation}`, async () => {
      if (packages === undefined) await rm(join(workspace, 'node_modules/.package-lock.json'));
      else await writeJson('node_modules/.package-lock.json', { packages });
      const { exitCode, lines } = await ensureInstalled();
      expect({ exitCode, lines }).toEqual({
        exitCode: 0,
        lines: [expect.stringMatching(/^Installing dependencies/)],
      });
      expect(await npmCalls()).toEqual([
        expect.stringMatching(/^ping/),
        expect.stringMatching(/^ci .*--prefer-offline/),
      ]);
    });
  }
});

describe('two starts at a time', () => {
  beforeEach(() => rm(join(workspace, 'node_modules/.package-lock.json')));

  it('waits for the other start and does not install again', async () => {
    await writeFile(join(workspace, '.cache/installing'), String(process.pid));
    const second = start();
    const waiting = expect.stringMatching(/^Waiting for another start/);
    await vi.waitFor(() => expect(second.lines()).toEqual([waiting]), { timeout: 10_000 });
    await writeJson('node_modules/.package-lock.json', { packages: installed });
    await rm(join(workspace, '.cache/installing'));
    expect(await second.ended).toEqual({ exitCode: 0, lines: [waiting] });
    expect(await npmCalls()).toEqual([]);
  });

  it('takes over from a killed start', async () => {
    const killed = start();
    await killed.ended;
    await writeFile(join(workspace, '.cache/installing'), String(killed.pid));
    expect(await ensureInstalled()).toEqual({ exitCode: 0, lines: [expect.stringMatching(/^Installing/)] });
  });
});

describe('one sentence explains what to do', () => {
  const notInstalled = () => rm(join(workspace, 'node_modules/.package-lock.json'));

  it('when the registry cannot be reached', async () => {
    await notInstalled();
    await rm(join(machine, 'node'));
    await rm(join(machine, 'npm'));
    const { exitCode, lines } = await ensureInstalled({
      PATH: process.env['PATH'] ?? '',
      npm_config_registry: 'http://127.0.0.1:9',
      npm_config_cache: join(workspace, 'empty-cache'),
    });
    expect(exitCode).toBe(1);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(/registry cannot be reached: connect this machine/);
  });

  it("when npm fails for another reason, with npm's message", async () => {
    await notInstalled();
    await putOnMachine(
      'npm',
      'case $1 in --version) echo 11.0.0;; ci) echo "npm error code ETARGET" >&2; echo "npm error No such version" >&2; exit 1;; esac',
    );
    const { exitCode, lines } = await ensureInstalled();
    expect(exitCode).toBe(1);
    expect(lines.slice(1)).toEqual([expect.stringContaining('(No such version)')]);
  });

  it.each([
    ['node', 'v16.20.0', 'Update to node 20 or later, then start again: this is v16.20.0.'],
    ['npm', '8.19.0', 'Update to npm 10 or later, then start again: this is 8.19.0.'],
  ])('when %s of the machine is too old to install', async (program, version, sentence) => {
    await notInstalled();
    await putOnMachine(program, `echo ${version}`);
    expect(await ensureInstalled()).toEqual({ exitCode: 1, lines: [sentence] });
  });

  it('when npm could not install Node 24, and the machine has an older one', async () => {
    await rm(join(workspace, 'node_modules/.bin/node'));
    const { exitCode, lines } = await ensureInstalled();
    expect({ exitCode, lines }).toEqual({
      exitCode: 1,
      lines: [expect.stringMatching(/^Node 24 is not in node_modules/)],
    });
  });
});

// On a fresh clone, no script may end with "not found" or a stack trace of an older Node.
it('every npm script first installs missing packages', async () => {
  const { scripts } = JSON.parse(await readFile(join(import.meta.dirname, '..', 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  // This one is npm's own, and reads the lockfile itself.
  const own = Object.keys(scripts).filter((name) => !name.startsWith('pre') && name !== 'sbom');
  const installs = (name: string) =>
    scripts[`pre${name}`]?.startsWith('node infra/ensure-installed.mjs') === true ||
    /exec infra\/(run|start)\b/.test(scripts[name] ?? '');
  const without = own.filter((name) => !installs(name));
  expect(without).toEqual([]);
});
