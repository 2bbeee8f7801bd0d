import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { makeFolder } from './make-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'tollgate-folder-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('creates missing folders, private to the owner, and leaves existing ones alone', () => {
  for (let times = 0; times < 2; times += 1) makeFolder(join(folder, 'a', 'b'));
  for (const made of [join(folder, 'a'), join(folder, 'a', 'b')])
    expect(statSync(made).mode & 0o777).toBe(0o700);
});

// A gateway with such a folder printed nothing, used one core, and could only be killed.
it.runIf(process.platform === 'linux')('fails if the system does not allow it', () => {
  expect(() => makeFolder('/proc/tollgate/data')).toThrow(/ENOENT|EACCES|EPERM/);
});

it('fails below a file', () => {
  writeFileSync(join(folder, 'file'), '');
  expect(() => makeFolder(join(folder, 'file', 'below'))).toThrow('ENOTDIR');
});
