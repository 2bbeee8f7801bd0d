/**
 * Readers first: the store has a schema version, and no event is written that needs a newer one. An operator raises it once
 * every living process can read more (`tollgate upgrade finish`), so that no process finds an event that it cannot read.
 */
import { StartupError, TollgateError, type Clock, type Ids } from '@tollgate/service-kit';
import { z } from 'zod';
import { beginning, type EventStore, type NewEvent, type Revision } from './event-store.ts';
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

/** Raises the version to the one that this process can read. @throws StoreUnavailable */
export async function raiseSchemaVersion(
  { store, clock, ids }: { store: EventStore; clock: Clock; ids: Ids },
  { release, reads: version }: Omit<Member, 'member'>,
  revision: Revision | 'no-stream',
): Promise<void> {
  const metadata = { recordedAt: clock.now(), actor: { kind: 'service', name: 'upgrade' } };
  const event = { id: ids.uuid(), type: 'SchemaVersionRaised', data: { version, release }, metadata };
  // After a conflict another process has raised it.
  await store.append(schemaVersionStream, [event], revision);
}

/**
 * A release that cannot read the store's version does not start on it. An empty store begins at the version of this release.
 *
 * @throws StartupError, StoreUnavailable
 */
export async function requireReadable(
  deps: { store: EventStore; clock: Clock; ids: Ids },
  self: Omit<Member, 'member'>,
): Promise<void> {
  const { version, release, revision } = await readSchemaVersion(deps.store);
  if (version > self.reads)
    throw new StartupError(
      'store_of_newer_version',
      `The event store is written in schema version ${version}, and release ${self.release} reads up to ${self.reads}. Use release ${release} or a later one.`,
    );
  const isEmpty = version < self.reads && (await deps.store.head()) === beginning;
  if (isEmpty) await raiseSchemaVersion(deps, self, revision);
}

/** Something would be written that a living process cannot read. Nothing was. */
class UpgradeNotFinished extends TollgateError {
  constructor(needed: number, version: number) {
    super(
      'upgrade_not_finished',
      `An event needs schema version ${needed}, and the event store is at ${version} until the upgrade is finished.`,
      { retryable: true },
    );
  }
}

/** The same store, which rejects events that need a newer schema version than the store's. @throws UpgradeNotFinished */
export function guardAppends(store: EventStore): EventStore {
  let known = 1;
  return {
    ...store,
    append: async (stream, events, expected, options) => {
      const needed = Math.max(0, ...events.map(stampOf));
      if (needed > known) known = (await readSchemaVersion(store)).version;
      if (needed > known) throw new UpgradeNotFinished(needed, known);
      return store.append(stream, events, expected, options);
    },
  };
}

/** 1 for events without a stamp. */
function stampOf({ metadata }: NewEvent): number {
  const { schemaVersion } = (metadata ?? {}) as { schemaVersion?: unknown };
  return Number.isSafeInteger(schemaVersion) ? Number(schemaVersion) : 1;
}
