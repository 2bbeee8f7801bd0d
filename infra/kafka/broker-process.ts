import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export interface BrokerProcess {
  pid: number;
  port: number;
}

const pollMs = 100;

const pidFile = (dataDir: string) => join(dataDir, 'kafka.pid');
export const propertiesFile = (dataDir: string) => join(dataDir, 'server.properties');

/** @throws EEXIST if another start was faster */
export function writePidFile(dataDir: string, broker: BrokerProcess): void {
  writeFileSync(pidFile(dataDir), `${JSON.stringify(broker)}\n`, { flag: 'wx' });
}

export const removePidFile = (dataDir: string) => rmSync(pidFile(dataDir), { force: true });

/** The broker running on this data; undefined if there is none, even if its file was left behind. */
export function findBroker(dataDir: string): BrokerProcess | undefined {
  let broker: BrokerProcess;
  try {
    broker = JSON.parse(readFileSync(pidFile(dataDir), 'utf8')) as BrokerProcess;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  return isBrokerOf(dataDir, broker.pid) ? broker : undefined;
}

/** Process ids are reused: only a process that was started on this data is our broker. */
function isBrokerOf(dataDir: string, pid: number): boolean {
  return commandOf(pid).includes(propertiesFile(dataDir));
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // The process does not exist, or the system has no /proc.
    return spawnSync('ps', ['-ww', '-p', String(pid), '-o', 'command='], { encoding: 'utf8' }).stdout ?? '';
  }
}

/** Asks the broker to stop, and kills it after `timeoutMs`. Resolves with false if it was killed. */
export async function stopBroker(dataDir: string, pid: number, timeoutMs = 60_000): Promise<boolean> {
  const until = performance.now() + timeoutMs;
  signal(pid, 'SIGTERM');
  while (isBrokerOf(dataDir, pid) && performance.now() < until) await delay(pollMs);
  const isStopped = !isBrokerOf(dataDir, pid);
  if (!isStopped) {
    signal(pid, 'SIGKILL');
    while (isBrokerOf(dataDir, pid)) await delay(pollMs);
  }
  removePidFile(dataDir);
  return isStopped;
}

function signal(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
