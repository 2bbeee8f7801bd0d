/** What is tormented: a Payment Service that outlives it, a relay before that, and gateways as users start them. */
import { cpSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type CallbackAddress, openCallbackAddress } from '../callback-address.ts';
import { type ReachedSystem, type System, besideEnv, newDataDir, startSystem } from '../system.ts';
import type { Arrangement, ArrangementName } from './arrangements.ts';
import type { Chance } from './chance.ts';
import { type Disaster, type Outage, disastersOf } from './disasters.ts';
import { type Disk, openDisk } from './disk.ts';
import { endsOfServices } from './invariants.ts';
import { type HoldingRelay, openHoldingRelay } from './relay.ts';
import { type Servers, startServers } from './servers.ts';
import { type Supervised, supervise } from './supervised.ts';

/** Shortened, so that minutes hold what days would; the quiet period is longer than the relay holds anything back. */
const times = {
  PROVIDER_CALL_DEADLINE_MS: '2000',
  PROVIDER_SEND_WITHIN_MS: '2000',
  PROVIDER_QUIET_MS: '8000',
};

const diskMiB = 256;
const diskMiBPerMinute = 128;

export interface Tortured {
  name: ArrangementName;
  host: System;
  relay: HoldingRelay;
  /** What can befall it. */
  disasters: readonly Disaster[];
  /** Any of the gateways that should run. */
  reached(): ReachedSystem;
  /** One that runs, for what is asked beside it. */
  gateway(): System;
  /** All that should run. */
  gateways(): readonly System[];
  /** `kill -9` of something; resolves when it runs again, or is being started again by others. */
  killSomething(): Promise<void>;
  /** SIGSTOP of something, and SIGCONT after a while. */
  stopSomething(durationMs: number): Promise<void>;
  /** Something that it needs is away; resolves when it is back. */
  breakDown(outage: Outage, chance: Chance): Promise<void>;
  /** What has ended though nobody killed it. */
  ownEnds(): string[];
  /** All that the gateways have printed. */
  output(): string;
  /** Keeps what they have printed and written. Gives the folder. */
  keep(): string;
  end(): Promise<void>;
}

export async function startTortured(
  arrangement: Arrangement,
  chance: Chance,
  minutes: number,
): Promise<Tortured> {
  const { name, shape } = arrangement;
  const host = await startSystem();
  const { hostname, port } = new URL(host.quickstart.paymentServiceUrl);
  const relay = await openHoldingRelay({ host: hostname, port: Number(port) });
  const gateways: Supervised[] = [];
  const callbacks = await openCallbackAddress(() =>
    gateways.map((each) => each.system().quickstart.callbackUrl),
  );
  const dataDir = newDataDir();
  const disk = openDisk(dataDir, diskMiB + Math.ceil(minutes) * diskMiBPerMinute);
  const servers = await startServers(arrangement);
  const parts = { arrangement, host, relay, callbacks, dataDir, servers };
  for (const instance of shape === 'two-gateways' ? ['first', 'second'] : ['first'])
    gateways.push(supervise(instance, await startOne(parts, instance)));
  const pick = () => chance.pick(gateways);
  const output = () => gateways.map((each) => each.output()).join('\n');

  return {
    ...{ name, host, relay, output, disasters: disastersOf(arrangement, disk !== undefined) },
    reached: () => ({ gateway: pick().system().gateway, sandbox: host.sandbox }),
    gateway: () => (gateways[0] as Supervised).system(),
    gateways: () => gateways.map((each) => each.system()),
    killSomething: async () => {
      const one = shape === 'services' && chance.whole(1, 6) > 1 ? pickProcess(dataDir, chance) : undefined;
      if (one === undefined) await pick().kill();
      else signal(one, 'SIGKILL');
    },
    stopSomething: async (durationMs) => {
      const one = shape === 'services' ? pickProcess(dataDir, chance) : undefined;
      const system = pick().system();
      const send = (what: 'SIGSTOP' | 'SIGCONT') =>
        one === undefined ? system.signal(what) : signal(one, what);
      send('SIGSTOP');
      await delay(durationMs);
      send('SIGCONT');
    },
    breakDown: (outage, how) =>
      ({ broker: servers.breakBroker, store: servers.breakStore, disk: fillFor(disk) })[outage](how),
    ownEnds: () => [...gateways.flatMap(({ ownEnds }) => ownEnds), ...endsOfServices(output())],
    keep: () => keep(name, dataDir, output()),
    end: async () => {
      for (const each of gateways) await each.end();
      relay.close();
      callbacks.close();
      await host.kill();
    },
  };
}

interface Parts {
  arrangement: Arrangement;
  host: System;
  relay: HoldingRelay;
  callbacks: CallbackAddress;
  dataDir: string;
  servers: Servers;
}

function startOne(parts: Parts, instance: string): Promise<System> {
  const { arrangement, host, relay, callbacks, dataDir, servers } = parts;
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
    ...{ dataDir, inFrontOf: host, stores: servers.env },
    ...(arrangement.shape === 'services' ? { instances: 2 } : {}),
    env: { ...times, ...own, ...accounts, CALLBACK_PUBLIC_URL: callbacks.url },
  });
}

const fillFor =
  (disk: Disk | undefined) =>
  async (chance: Chance): Promise<void> => {
    const fullMs = chance.between(500, 12_000);
    disk?.fill();
    await delay(fullMs);
    disk?.free();
  };

/** One of those that the launcher has listed. */
function pickProcess(dataDir: string, chance: Chance): number | undefined {
  const file = join(dataDir, 'processes.json');
  if (!existsSync(file)) return undefined;
  const listed = JSON.parse(readFileSync(file, 'utf8')) as { pid: number }[];
  return listed.length === 0 ? undefined : chance.pick(listed).pid;
}

/** It may be gone by now. */
function signal(pid: number, name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function keep(name: string, dataDir: string, output: string): string {
  const folder = mkdtempSync(join(tmpdir(), `tollgate-torture-${name}-`));
  writeFileSync(join(folder, 'output.txt'), output);
  cpSync(dataDir, join(folder, 'data'), { recursive: true });
  return folder;
}
