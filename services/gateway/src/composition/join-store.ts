/** Takes part in the event store: tells the others what this process reads, and writes nothing that one of them does not. */
import {
  type EventStore,
  type Member,
  type Members,
  createMembers,
  createSchemaGate,
  guardAppends,
  requireReadable,
} from '@tollgate/event-store';
import { schemaVersion } from '@tollgate/payment-domain';
import { TollgateError, type Clock, type Ids, type Log } from '@tollgate/service-kit';
import { release } from '../configuration/release.ts';
import { inBackground } from './background.ts';

export interface JoinedStore {
  /** Takes nothing that a living process cannot read. */
  store: EventStore;
  members: Members;
  /** The store was raised to a schema version that this release does not read. */
  isSuperseded(): boolean;
  leave(): Promise<void>;
}

/** @throws StartupError where the store is written in a version that this release does not read; StoreUnavailable */
export async function joinStore(deps: {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Unique for each life of a process. */
  member: string;
  /** The schema version is raised up to here at most. */
  heldAt: number | undefined;
  /** The store was raised to a schema version that this release does not read: newer processes take its work over. */
  giveWay?: ((reason: TollgateError) => void) | undefined;
}): Promise<JoinedStore> {
  const self: Member = { member: deps.member, release, reads: schemaVersion };
  const members = createMembers({ ...deps, self });
  // Before the version is read: a process that raises it later sees what this one reads.
  await members.beat();
  const version = await requireReadable(deps.store, self);
  const gate = createSchemaGate({ ...deps, self, version });
  const check = async () => {
    const wasSuperseded = gate.isSuperseded();
    await gate.check(members.living());
    if (!wasSuperseded && gate.isSuperseded())
      await requireReadable(deps.store, self).catch((reason: unknown) => {
        if (!(reason instanceof TollgateError)) throw reason;
        deps.giveWay?.(reason);
      });
  };
  await check();
  return {
    store: guardAppends(deps.store, gate.writable),
    members,
    isSuperseded: gate.isSuperseded,
    leave: inBackground((signal) => members.run(signal, check)),
  };
}
