/** The processes that make up the system: started one by one, stopped together in order. */
import { renameSync, writeFileSync } from 'node:fs';
import type { Clock } from '@tollgate/service-kit';
import { ofEveryProgram, only } from '../configuration/service-variables.ts';
import { type ProcessOptions, type Supervised, supervise } from './supervise.ts';

export interface GroupOptions {
  /** The groups of services that are stopped one after the other; those of a group at once. */
  stopOrder: readonly (readonly string[])[];
  /** Lists the processes, so that they can be found from outside. */
  listFile: string;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  /** Prints a line. */
  say: (line: string) => void;
}

export type Member = Pick<ProcessOptions, 'label' | 'argv' | 'env' | 'isReadyLine'> & {
  service: string;
  /** Of its HTTP server. */
  port: number;
  /** Names of the variables that it has from the group's environment, next to those of every program. */
  inherited: readonly string[];
  metricsPort: number;
};

export type ProcessGroup = ReturnType<typeof createProcessGroup>;

export function createProcessGroup({ stopOrder, listFile, env, clock, say }: GroupOptions) {
  const running: { service: string; process: Supervised }[] = [];
  const listed = new Map<
    string,
    Pick<Member, 'label' | 'service' | 'port' | 'metricsPort'> & { pid: number }
  >();
  const stopping = new AbortController();

  function list({ label, service, port, metricsPort }: Member, pid: number): void {
    listed.set(label, { label, service, pid, port, metricsPort });
    const next = `${listFile}.next`;
    writeFileSync(next, `${JSON.stringify([...listed.values()], null, 2)}\n`, { mode: 0o600 });
    // Readers see the old list or the new one, never half of one.
    renameSync(next, listFile);
  }

  return {
    /** Resolves when it serves. Rejects with StartupError if it ends before, or while the group is stopping. */
    start(member: Member): Promise<void> {
      stopping.signal.throwIfAborted();
      const { label, argv, isReadyLine } = member;
      const process = supervise({
        label,
        argv,
        isReadyLine,
        clock,
        say,
        env: { ...only(env, [...ofEveryProgram, ...member.inherited]), ...member.env },
        onStart: (pid) => list(member, pid),
      });
      running.push({ service: member.service, process });
      return process.ready;
    },
    /** Stops all, in order; kills remaining ones when `signal` is aborted. */
    async stop(signal: AbortSignal): Promise<void> {
      stopping.abort();
      for (const services of stopOrder) {
        const members = running.filter(({ service }) => services.includes(service));
        await Promise.all(members.map(({ process }) => process.stop(signal)));
      }
    },
  };
}
