/** The two ports of the outside: the event store is a file of this machine or EventStoreDB, the bus is on it too, or on Kafka. */
import { hostname } from 'node:os';
import { type EventStore, runUnderLease } from '@tollgate/event-store';
import type { MessageBus } from '@tollgate/message-bus';
import { errorCode } from '@tollgate/service-kit';
import type { GatewayDependencies, OnStop } from './gateway.ts';
import { openBus } from './open-bus.ts';
import { openStore } from './open-store.ts';

/** Does work while no other process does the work of that name; resolves when the signal is aborted and the work has ended. */
export type RunAlone = (
  name: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
) => Promise<void>;

export interface Ports {
  store: EventStore;
  /** False while the store does not answer. */
  isStoreReachable: () => boolean;
  bus: MessageBus;
  runAlone: RunAlone;
}

export async function openPorts(
  { config, clock, ids, logOf, pid }: GatewayDependencies,
  file: string,
  onStop: OnStop,
): Promise<Ports> {
  const { eventStore, kafka } = config;
  const opened = await openStore({ eventStore, file, clock, log: logOf('event-store') });
  const { store, isReachable: isStoreReachable } = opened;
  onStop(() => store.close());
  // The number of a process is used again, in a container always: the rest tells this life of it from the last.
  const own = { host: hostname(), pid, life: ids.hex(6) };
  const holder = toHolder(own);
  const isGone = (other: string) => isOfAnEndedProcess(other, own);
  const { bus, close } = openBus({ kafka, store, clock, ids, holder, isGone, log: logOf('message-bus') });
  onStop(close);
  const runAlone: RunAlone = (name, signal, work) =>
    runUnderLease({ store, clock, ids, name, holder, isGone, signal, log: logOf(name) }, work);
  return { store, isStoreReachable, bus, runAlone };
}

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
