import { spawnSync } from 'node:child_process';
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { isOfAnEndedProcess, ownHost, toHolder } from './lease-holder.ts';

const own = { host: 'here', pid: process.pid, life: 'now' };
const endedPid = spawnSync(process.execPath, ['-e', '']).pid;

describe('isOfAnEndedProcess', () => {
  it.each([
    ['ourselves', toHolder(own), false],
    ['an earlier process of our number', toHolder({ ...own, life: 'before' }), true],
    ['a process that runs', toHolder({ ...own, pid: process.ppid }), false],
    ['a process that has ended', toHolder({ ...own, pid: endedPid }), true],
    ['a process of another machine', toHolder({ ...own, host: 'there', pid: endedPid }), false],
    ['our number on another machine', toHolder({ ...own, host: 'there', life: 'before' }), false],
    ['a holder that is written otherwise', 'somebody', false],
    ['number 0, which is no process but a group', toHolder({ ...own, pid: 0 }), false],
  ])('of %s', (_name, holder, expected) => {
    expect(isOfAnEndedProcess(holder, own)).toBe(expected);
  });
});

// Two containers with their host's name each considered the other's process ended, and took the lease in turns.
it.runIf(process.platform === 'linux')('processes that do not see each other are not on one host', () => {
  const { stdout, status } = spawnSync('unshare', [
    '--user',
    '--pid',
    '--fork',
    '--mount-proc',
    'readlink',
    '/proc/self/ns/pid',
  ]);
  const otherSpace = status === 0 ? stdout.toString().trim() : 'pid:[1]';
  expect(ownHost()).toContain('pid:[');
  expect(ownHost()).not.toContain(otherSpace);
  const other = toHolder({ host: `${hostname()} ${otherSpace}`, pid: endedPid, life: 'now' });
  expect(isOfAnEndedProcess(other, { ...own, host: ownHost() })).toBe(false);
});
