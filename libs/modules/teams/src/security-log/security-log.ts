/** The only way to write the security log, for every process: the loser of a conflict relinks its entry. */
import {
  type EventStore,
  type LoadedState,
  type NewEvent,
  type Position,
  beginning,
  createRecentStates,
  decideAndAppend,
  readLast,
} from '@tollgate/event-store';
import type { Actor, EventMetadata } from '@tollgate/core';
import { type Clock, type Ids, type Log, omitUndefined } from '@tollgate/service-kit';
import { link, linkOf } from './chain.ts';
import { type SecurityEvent, securityLogStream, versionOfSecurityEvent } from './entries.ts';

/** An entry before it is written. */
export interface SecurityEntry {
  event: SecurityEvent;
  actor: Actor;
  /** The position of the team event that it copies. An existing entry is not written again. */
  ofTeamsAt?: Position;
}

export type SecurityLog = ReturnType<typeof createSecurityLog>;

/** The end of the log. */
interface Tail {
  hash: string | undefined;
  teamsUpTo: Position;
  /** Of the last event; -1 before the first. */
  revision: number;
}

const noTail: Tail = { hash: undefined, teamsUpTo: beginning, revision: -1 };

/** An event with its link, or one that was read: it may be a foreign row. */
type Linked = NewEvent & { revision: number };

export interface SecurityLogDependencies {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
}

export function createSecurityLog({ store, clock, ids, log }: SecurityLogDependencies) {
  /** The last event alone has everything that the next one needs. */
  async function tail(): Promise<LoadedState<Tail>> {
    const last = await readLast(store, securityLogStream);
    if (last === undefined) return { state: noTail, revision: 'no-stream' };
    return { state: evolve(noTail, last), revision: last.revision };
  }

  /** Without entries that the log has. */
  function linksOf(entries: readonly SecurityEntry[], { hash, teamsUpTo, revision }: Tail): Linked[] {
    let [previous, upTo] = [hash, teamsUpTo];
    return entries
      .filter(({ ofTeamsAt }) => ofTeamsAt === undefined || ofTeamsAt > teamsUpTo)
      .map((entry, index) => {
        upTo = entry.ofTeamsAt ?? upTo;
        const place = revision + 1 + index;
        const event = { id: ids.uuid(), ...entry.event, metadata: metadataOf(entry) };
        const linked = link(event, place, { teamsUpTo: upTo, ...omitUndefined({ previous }) });
        previous = linkOf(linked)?.hash;
        return { ...linked, revision: place };
      });
  }

  function metadataOf({ event, actor }: SecurityEntry): EventMetadata {
    const correlationId = ids.uuid();
    const cause = { correlationId, causationId: correlationId, actor };
    return { schemaVersion: versionOfSecurityEvent(event), ...cause, recordedAt: clock.now() };
  }

  async function append(entries: readonly SecurityEntry[]): Promise<void> {
    const recent = createRecentStates<Tail>(1);
    recent.set(securityLogStream, await tail());
    const outcome = await decideAndAppend<Tail, Linked, never>({
      store,
      recent,
      stream: securityLogStream,
      initial: noTail,
      evolve,
      decode: (recorded) => recorded,
      decide: (state) => ({ kind: 'events', events: linksOf(entries, state) }),
      toNewEvents: (events) => events,
    });
    // The hash for `audit verify --head`, if logs are kept elsewhere.
    if (outcome.kind === 'decided')
      log.info({ revision: outcome.revision, hash: outcome.state.hash ?? '' }, 'the security log has grown');
  }

  // In sequence, so that only processes compete.
  let turn = Promise.resolve();
  return {
    /**
     * Resolves when the entries are durable, in one append.
     *
     * @throws StoreUnavailable (retryable): they may be durable or not
     */
    record: (entries: readonly SecurityEntry[]): Promise<void> => {
      const written = turn.then(() => append(entries));
      turn = written.catch(() => undefined);
      return written;
    },
    /** Position of the latest event of a team in the log. */
    teamsUpTo: async (): Promise<Position> => (await tail()).state.teamsUpTo,
  };
}

function evolve(state: Tail, event: Linked): Tail {
  const { revision } = event;
  const known = linkOf(event);
  // After a foreign row the next entry links to what was there, and verification reports the row.
  if (known === undefined) return { ...state, revision };
  return { hash: known.hash, teamsUpTo: known.teamsUpTo as Position, revision };
}
