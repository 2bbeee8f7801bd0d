/** Identifies the holder of a lease, so that other processes can detect its end. */
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { errorCode } from '@tollgate/service-kit';

/** One life of a process on one machine. */
export interface Holder {
  /** As {@link ownHost} tells it: where `pid` means something. */
  host: string;
  pid: number;
  life: string;
}

/**
 * The machine, and where the system tells it the space of its process numbers: containers may share a host's name, and each
 * then took the lease of the others, whose processes it does not see.
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

/** True where the process that a lease names is gone for certain: then its work need not wait for the lease to run out. */
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
