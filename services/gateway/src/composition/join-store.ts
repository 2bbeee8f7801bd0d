/** Joins the event store: announces the schema version that this process reads, and writes no newer one. */
import {
  type EventStore,
  type Member,
  createMembers,
  guardAppends,
  requireReadable,
  schemaVersion,
} from '@tollgate/event-store';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import { release } from '../configuration/release.ts';
import { inBackground } from './background.ts';

/** @throws StartupError if the store is written in a version that this release does not read; StoreUnavailable */
export async function joinStore(deps: {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Unique for each life of a process. */
  member: string;
}) {
  const self: Member = { member: deps.member, release, reads: schemaVersion };
  const members = createMembers({ ...deps, self });
  await requireReadable(deps, self);
  await members.beat();
  // An operator may have raised the version before this process was seen.
  await requireReadable(deps, self);
  return {
    /** Accepts nothing that needs a newer schema version than the store's. */
    store: guardAppends(deps.store),
    members,
    leave: inBackground((signal) => members.run(signal)),
  };
}
