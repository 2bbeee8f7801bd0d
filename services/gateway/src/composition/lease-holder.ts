/** Identifies the holder of a lease, so that other processes can detect its end. */
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { errorCode } from '@tollgate/service-kit';

/** One life of a process on one machine. */
export interface Holder {
  /** As {@link ownHost} returns it: the scope of `pid`. */
  host: string;
  pid: number;
  life: string;
}

/**
 * The machine and, if available, its PID namespace: containers may share a host's name, and each then took the lease
 * of others whose processes it cannot see.
 */
export function ownHost(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    // Only Linux has such spaces.
    return hostname();
  }
}

export const toHolder = ({ host, pid, life }: Holder): string => `${pid}.${life}@${host}`;

/** True if the process of a lease has certainly ended: its work need not wait for the lease to expire. */
export function isOfAnEndedProcess(other: string, own: Holder): boolean {
  const [, digits, life, host] = /^(\d{1,9})\.([^@]*)@(.*)$/s.exec(other) ?? [];
  const pid = Number(digits);
  // Of another machine's processes, or another container's, nothing is known here.
  if (host !== own.host || !(pid > 0)) return false;
  if (pid === own.pid) return life !== own.life;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return errorCode(error) === 'ESRCH';
  }
}
