import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'chromium-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the script with only this folder on the PATH, so that a spec can replace apt-get. */
function ensure(chromium: string) {
  const script = join(import.meta.dirname, 'ensure-chromium.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, chromium], {
    env: { PATH: folder },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}
const putAptGet = (lines: string) =>
  writeFileSync(join(folder, 'apt-get'), `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
const missing = () => join(folder, 'chromium');
const sentence = /^The browser tests need Chromium at .*: install it .*, then start again\.\n$/;
const isRoot = process.getuid?.() === 0;

describe('before the browser tests', () => {
  it('nothing happens if Chromium is installed', () => {
    putAptGet('exit 1');
    expect(ensure(process.execPath)).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  it('one sentence explains what to do if it is missing and cannot be installed', () => {
    expect(ensure(missing())).toEqual({ status: 1, stdout: '', stderr: expect.stringMatching(sentence) });
  });

  it.runIf(isRoot)('root gets it installed', () => {
    putAptGet(`[ "$1" != install ] || : > '${missing()}'`);
    expect(ensure(missing())).toMatchObject({ status: 0, stderr: '' });
  });

  it.runIf(isRoot)('the same sentence ends an installation that failed', () => {
    putAptGet('[ "$1" != install ]');
    expect(ensure(missing())).toMatchObject({ status: 1, stderr: expect.stringMatching(sentence) });
  });
});
