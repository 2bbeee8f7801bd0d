/**
 * Readers first: the store is at a schema version, and nothing is written that needs a newer one. It is raised once every
 * living process reads more, so that no process meets an event that it cannot read while releases run side by side.
 */
import { StartupError, TollgateError, type Clock, type Ids, type Log } from '@tollgate/service-kit';
import { z } from 'zod';
import type { EventStore, NewEvent, Revision } from './event-store.ts';
import { readLast } from './follower/checkpoint.ts';
import type { Member } from './members.ts';

export const schemaVersionStream = 'schema-version';

const raisedSchema = z.object({ version: z.int().min(1), release: z.string() });

/** The schema version that a store is written in; 1 until it was raised. @throws StoreUnavailable */
export async function readSchemaVersion(
  store: Pick<EventStore, 'read'>,
): Promise<{ version: number; release?: string; revision: Revision | 'no-stream' }> {
  const last = await readLast(store, schemaVersionStream);
  if (last === undefined) return { version: 1, revision: 'no-stream' };
  return { ...raisedSchema.parse(last.data), revision: last.revision };
}

/** A release that does not read what may be in the store does not start on it. @throws StartupError, StoreUnavailable */
export async function requireReadable(store: Pick<EventStore, 'read'>, self: Omit<Member, 'member'>) {
  const { version, release } = await readSchemaVersion(store);
  if (version <= self.reads) return version;
  throw new StartupError(
    'store_of_newer_version',
    `The event store is written in schema version ${version}, and release ${self.release} reads up to ${self.reads}. Use release ${release} or a later one.`,
  );
}

/** Something would be written that a living process cannot read. Nothing was. */
class UpgradeNotFinished extends TollgateError {
  constructor(needed: number, writable: number) {
    super(
      'upgrade_not_finished',
      `An event needs schema version ${needed}, and the event store is at ${writable} until every process reads it.`,
      { retryable: true },
    );
  }
}

export interface SchemaGate {
  /** The newest schema version that may be written now. */
  writable(): number;
  /** The store was raised beyond what this process reads: it must give way to a newer release. */
  isSuperseded(): boolean;
  /**
   * Sees where the store is, and raises it where all of them read more.
   *
   * @throws StoreUnavailable
   */
  check(living: readonly Member[]): Promise<void>;
}

export interface SchemaGateOptions {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
  self: Member;
  /** Where the store is at the start. */
  version: number;
  /** It is raised up to here at most, so that the release before can still be gone back to. */
  heldAt?: number | undefined;
}

export function createSchemaGate(options: SchemaGateOptions): SchemaGate {
  const { store, clock, ids, log, self, heldAt = Infinity } = options;
  let { version } = options;
  let waitsFor: string | undefined;

  function tellWaiting(living: readonly Member[]): void {
    const older = living.find(({ reads }) => reads < self.reads);
    if (older?.member === waitsFor) return;
    waitsFor = older?.member;
    if (older !== undefined)
      log.warn(
        { schemaVersion: version, release: older.release, member: older.member },
        'an older release runs: the schema version is not raised yet',
      );
  }

  async function raise(target: number, revision: Revision | 'no-stream'): Promise<void> {
    const data = { version: target, release: self.release };
    const metadata = { recordedAt: clock.now(), actor: { kind: 'service', name: self.member } };
    const event = { id: ids.uuid(), type: 'SchemaVersionRaised', data, metadata };
    // Another process may have been faster: the next check sees what it has raised.
    const answer = await store.append(schemaVersionStream, [event], revision);
    if (answer.kind === 'conflict') return;
    version = target;
    log.info({ schemaVersion: target }, 'the schema version of the event store is raised');
  }

  return {
    writable: () => version,
    isSuperseded: () => version > self.reads,
    async check(living) {
      const stored = await readSchemaVersion(store);
      const isNews = stored.version > self.reads && version <= self.reads;
      version = stored.version;
      if (isNews)
        log.error(
          { schemaVersion: version },
          'the event store is written in a version that this release does not read',
        );
      const target = Math.min(heldAt, ...living.map(({ reads }) => reads));
      if (target > version) await raise(target, stored.revision);
      tellWaiting(living);
    },
  };
}

/** The same store, which takes nothing that needs a newer schema version than may be written. @throws UpgradeNotFinished */
export const guardAppends = (store: EventStore, writable: () => number): EventStore => ({
  ...store,
  append: (stream, events, expected, options) => {
    const needed = Math.max(0, ...events.map(stampOf));
    if (needed > writable()) return Promise.reject(new UpgradeNotFinished(needed, writable()));
    return store.append(stream, events, expected, options);
  },
});

/** 1 for events that are stamped with none. */
function stampOf({ metadata }: NewEvent): number {
  const { schemaVersion } = (metadata ?? {}) as { schemaVersion?: unknown };
  return Number.isSafeInteger(schemaVersion) ? Number(schemaVersion) : 1;
}
