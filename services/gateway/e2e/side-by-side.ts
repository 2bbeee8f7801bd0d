/** Gateways of several releases on one store, in front of one sandbox, started and stopped under load. */
import { join } from 'node:path';
import { beginning, schemaVersionStream, type EventStore } from '@tollgate/event-store';
import { paymentStreamPrefix } from '@tollgate/core';
import { systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { expect } from 'vitest';
import { expectAgreement, flowsOf, shortTimes } from './agreement.ts';
import { type CallbackAddress, openCallbackAddress } from './callback-address.ts';
import { tollgateExit } from './commands.ts';
import { type Load, fund, newLoad, runFlows } from './mixed-load.ts';
import {
  type CallGateway,
  type ReachedSystem,
  type System,
  besideEnv,
  newDataDir,
  startRefused,
  startSystem,
} from './system.ts';
import { storeOf } from './topic.ts';

const connections = 12;

/** Workspace of a release; undefined for this one. */
export type Release = string | undefined;

export class SideBySide {
  readonly load: Load;
  private readonly running = new Map<string, System>();
  private readonly dataDir = newDataDir();
  private turn = 0;
  private rounds = 0;

  private readonly sandboxHost: System;
  private readonly callbacks: { address?: CallbackAddress };

  private constructor(sandboxHost: System, callbacks: { address?: CallbackAddress }) {
    this.sandboxHost = sandboxHost;
    this.callbacks = callbacks;
    this.load = newLoad(() => this.reached());
  }

  /** @param first the release that creates the store */
  static async begin(first: Release): Promise<SideBySide> {
    // The sandbox belongs to a gateway with separate data, so it survives the others.
    const callbacks: { address?: CallbackAddress } = {};
    const side = new SideBySide(await startSystem(), callbacks);
    callbacks.address = await openCallbackAddress(() =>
      [...side.running.values()].map(({ quickstart }) => quickstart.callbackUrl),
    );
    await side.start('first', first);
    await fund(side.load);
    return side;
  }

  async start(name: string, workspace: Release, env: Record<string, string> = {}): Promise<System> {
    const system = await startSystem(this.options(name, workspace, env));
    this.running.set(name, system);
    return system;
  }

  /** The outcome of a start that must fail. */
  startRefused(name: string, workspace: Release): Promise<{ exitCode: number | null; output: string }> {
    return startRefused(this.options(name, workspace, {}));
  }

  /** Excludes it from the load. */
  leave(name: string): System {
    const system = this.running.get(name);
    if (system === undefined) throw new Error(`${name} does not run`);
    this.running.delete(name);
    return system;
  }

  /** Like the operator when every process runs the new release. */
  finishUpgrade(name: string) {
    return tollgateExit(this.running.get(name)!, 'upgrade', 'finish');
  }

  async stop(name: string): Promise<void> {
    expect(await this.leave(name).terminate(), `exit code of ${name}`).toBe(0);
  }

  /** Runs load from the beginning to the end of `change`, at least one round. */
  async under(change: () => Promise<unknown> = async () => undefined): Promise<void> {
    let isChanged = false;
    const changing = change().finally(() => (isChanged = true));
    changing.catch(() => undefined);
    do {
      this.rounds += 1;
      const count = { refunded: 12, captureOrVoid: 9, payouts: 6 };
      await runFlows(flowsOf(this.load, count, `round-${this.rounds}-`), connections);
    } while (!isChanged);
    await changing;
  }

  /** Ledger, gateway and views agree, according to `name`. */
  async expectAllAgree(name: string): Promise<void> {
    const system = this.running.get(name)!;
    const seen: ReachedSystem = { gateway: system.gateway, sandbox: this.sandboxHost.sandbox };
    expect(this.load.contradictions).toEqual([]);
    const agreed = { ...this.load, system: () => seen };
    await eventually(() => expectAgreement(seen, agreed), { timeoutMs: 90_000, intervalMs: 1_000 });
    await eventually(
      async () => expect(await tollgateExit(system, 'rebuild', '--check')).toMatchObject({ exitCode: 0 }),
      {
        timeoutMs: 60_000,
        intervalMs: 1_000,
      },
    );
    expect(await tollgateExit(system, 'upgrade', 'check')).toMatchObject({ exitCode: 0 });
    expect((await system.gateway('GET', '/readyz')).body).toMatchObject({ ready: true, degraded: [] });
  }

  /** Number of events of a type. */
  async countOf(type: string): Promise<number> {
    return (await this.tokensWith(type)).length;
  }

  /** The payments that have an event of a type. */
  tokensWith(type: string): Promise<string[]> {
    return this.withStore(async (store) =>
      (await paymentEventsIn(store))
        .filter((event) => event.type === type)
        .map(({ stream }) => stream.slice(paymentStreamPrefix.length)),
    );
  }

  /** Unsupported in production: lowers the version, so that a release starts on events that it cannot read. */
  async forceSchemaVersion(version: number): Promise<void> {
    const data = { version, release: 'forced' };
    const event = { id: systemIds.uuid(), type: 'SchemaVersionRaised', data, metadata: {} };
    await this.withStore((store) => store.append(schemaVersionStream, [event], 'any'));
  }

  callerOf(name: string): CallGateway {
    return this.running.get(name)!.gateway;
  }

  async end(): Promise<void> {
    this.callbacks.address?.close();
    for (const system of this.running.values()) await system.kill();
    await this.sandboxHost.kill();
  }

  private options(name: string, workspace: Release, env: Record<string, string>) {
    const beside = besideEnv(this.dataDir, this.sandboxHost.quickstart, name);
    const own = { ...shortTimes, ...beside, ...env, CALLBACK_PUBLIC_URL: this.callbacks.address?.url ?? '' };
    return {
      dataDir: this.dataDir,
      env: own,
      inFrontOf: this.sandboxHost,
      ...(workspace === undefined ? {} : { workspace }),
    };
  }

  /** Alternates between gateways, like a load balancer. */
  private reached(): ReachedSystem {
    const systems = [...this.running.values()];
    const system = systems[(this.turn += 1) % systems.length];
    if (system === undefined) throw new Error('no gateway runs');
    return { gateway: system.gateway, sandbox: this.sandboxHost.sandbox };
  }

  private async withStore<Result>(use: (store: EventStore) => Promise<Result>): Promise<Result> {
    const store = await storeOf({ env: {}, dataDir: this.dataDir });
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  }
}

async function paymentEventsIn(store: EventStore) {
  const events = [];
  const { signal } = new AbortController();
  for await (const item of store.subscribe({ from: beginning, prefixes: [paymentStreamPrefix], signal })) {
    if (item.kind === 'caught-up') break;
    events.push(item);
  }
  return events;
}

/** Created by `npm run test:upgrades`. */
export function releaseFolder(variable: 'LAST_RELEASE_FOLDER' | 'NEXT_RELEASE_FOLDER'): string {
  const folder = process.env[variable];
  if (folder === undefined)
    throw new Error(`${variable} is not set; npm run test:upgrades builds the releases.`);
  return join(folder);
}
