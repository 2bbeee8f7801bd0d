import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { isOfAnEndedProcess } from './embedded-ports.ts';

const own = { pid: process.pid, holder: `${process.pid}.now` };
const endedPid = () => spawnSync(process.execPath, ['-e', '']).pid;

describe('isOfAnEndedProcess', () => {
  it.each([
    ['ourselves', own.holder, false],
    ['an earlier process of our number', `${process.pid}.before`, true],
    ['a process that runs', `${process.ppid}.x`, false],
    ['a process that has ended', `${endedPid()}.x`, true],
    ['a holder that is no process of this machine', 'another-machine', false],
    ['number 0, which is no process but a group', '0.x', false],
  ])('of %s', (_name, holder, expected) => {
    expect(isOfAnEndedProcess(holder, own)).toBe(expected);
  });
});
