/** Who holds a lease, so that others can tell whether he is gone. */
import { errorCode } from '@tollgate/service-kit';

/** One life of a process on one machine. */
export interface Holder {
  host: string;
  pid: number;
  life: string;
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
