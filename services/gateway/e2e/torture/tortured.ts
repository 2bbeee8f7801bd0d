/** What is tormented: a Payment Service that outlives it, a relay before that, and gateways as users start them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type CallbackAddress, openCallbackAddress } from '../callback-address.ts';
import { type ReachedSystem, type System, besideEnv, newDataDir, startSystem } from '../system.ts';
import type { Chance } from './chance.ts';
import { type HoldingRelay, openHoldingRelay } from './relay.ts';

export const arrangementNames = ['one-process', 'two-gateways', 'services'] as const;
export type ArrangementName = (typeof arrangementNames)[number];

/** Shortened, so that minutes hold what days would; the quiet period is longer than the relay holds anything back. */
const times = {
  PROVIDER_CALL_DEADLINE_MS: '2000',
  PROVIDER_SEND_WITHIN_MS: '2000',
  PROVIDER_QUIET_MS: '8000',
};

export interface Tortured {
  name: ArrangementName;
  host: System;
  relay: HoldingRelay;
  /** Any of the gateways that should run. */
  reached(): ReachedSystem;
  /** One that runs, for what is asked beside it. */
  gateway(): System;
  /** `kill -9` of something; resolves when it runs again. Gives what it was. */
  killSomething(): Promise<string>;
  /** SIGSTOP of something, and SIGCONT after a while. Gives what it was. */
  stopSomething(durationMs: number): Promise<string>;
  /** All that the gateways have printed. */
  output(): string;
  end(): Promise<void>;
}

export async function startTortured(name: ArrangementName, chance: Chance): Promise<Tortured> {
  const host = await startSystem();
  const { hostname, port } = new URL(host.quickstart.paymentServiceUrl);
  const relay = await openHoldingRelay({ host: hostname, port: Number(port) });
  const systems: System[] = [];
  const callbacks = await openCallbackAddress(() => systems.map(({ quickstart }) => quickstart.callbackUrl));
  const dataDir = newDataDir();
  const instances = name === 'two-gateways' ? ['first', 'second'] : ['first'];
  for (const instance of instances)
    systems.push(await startOne({ name, host, relay, callbacks, dataDir }, instance));
  const printed: string[] = [];

  async function restart(index: number): Promise<void> {
    const system = systems[index];
    if (system === undefined) return;
    printed.push(system.output());
    await system.kill();
    systems[index] = await system.restart();
  }

  return {
    ...{ name, host, relay },
    reached: () => ({ gateway: chance.pick(systems).gateway, sandbox: host.sandbox }),
    gateway: () => systems[0] as System,
    killSomething: async () => {
      const one = name === 'services' && chance.whole(1, 6) > 1 ? pickProcess(dataDir, chance) : undefined;
      if (one !== undefined) {
        signal(one.pid, 'SIGKILL');
        return one.label;
      }
      const index = chance.whole(0, systems.length - 1);
      await restart(index);
      return instances[index] as string;
    },
    stopSomething: async (durationMs) => {
      const one = name === 'services' ? pickProcess(dataDir, chance) : undefined;
      const index = chance.whole(0, systems.length - 1);
      const send = (what: 'SIGSTOP' | 'SIGCONT') =>
        one === undefined ? systems[index]?.signal(what) : signal(one.pid, what);
      send('SIGSTOP');
      await delay(durationMs);
      send('SIGCONT');
      return one?.label ?? (instances[index] as string);
    },
    output: () => [...printed, ...systems.map((system) => system.output())].join('\n'),
    end: async () => {
      for (const system of systems) await system.kill();
      relay.close();
      callbacks.close();
      await host.kill();
    },
  };
}

interface Parts {
  name: ArrangementName;
  host: System;
  relay: HoldingRelay;
  callbacks: CallbackAddress;
  dataDir: string;
}

function startOne({ name, host, relay, callbacks, dataDir }: Parts, instance: string): Promise<System> {
  const paymentServiceUrl = `https://127.0.0.1:${relay.port}`;
  // Nothing but the accounts of that: the ports are its own, so that it is found again after a restart.
  const { SANDBOX_KEY, PROVIDER_ACCOUNTS_FILE } = besideEnv(
    dataDir,
    { ...host.quickstart, paymentServiceUrl },
    instance,
  );
  const own = instance === 'first' ? {} : { TOLLGATE_INSTANCE: instance };
  const accounts = { SANDBOX_KEY, PROVIDER_ACCOUNTS_FILE } as Record<string, string>;
  return startSystem({
    ...{ dataDir, inFrontOf: host, ...(name === 'services' ? { instances: 2 } : {}) },
    env: { ...times, ...own, ...accounts, CALLBACK_PUBLIC_URL: callbacks.url },
  });
}

interface Listed {
  label: string;
  pid: number;
}

function pickProcess(dataDir: string, chance: Chance): Listed | undefined {
  const file = join(dataDir, 'processes.json');
  if (!existsSync(file)) return undefined;
  const listed = JSON.parse(readFileSync(file, 'utf8')) as Listed[];
  return listed.length === 0 ? undefined : chance.pick(listed);
}

/** It may be gone by now. */
function signal(pid: number, name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
