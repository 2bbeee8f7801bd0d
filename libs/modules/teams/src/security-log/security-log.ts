/** The only way to write the security log, for every process: the loser of a conflict relinks its entry. */
import {
  type EventStore,
  type LoadedState,
  type NewEvent,
  type Position,
  type RecordedEvent,
  beginning,
  createRecentStates,
  decideAndAppend,
} from '@tollgate/event-store';
import type { Actor, EventMetadata } from '@tollgate/core';
import { type Clock, type Ids, type Log, omitUndefined } from '@tollgate/service-kit';
import { type Link, link, linkOf } from './chain.ts';
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
}

const noTail: Tail = { hash: undefined, teamsUpTo: beginning };

type Step = { entry: SecurityEntry } | { recorded: RecordedEvent };

export interface SecurityLogDependencies {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
}

export function createSecurityLog({ store, clock, ids, log }: SecurityLogDependencies) {
  /** The last event alone has everything that the next one needs. */
  async function tail(): Promise<LoadedState<Tail>> {
    for await (const recorded of store.read(securityLogStream, { direction: 'backwards', limit: 1 }))
      return { state: evolve(noTail, { recorded }), revision: recorded.revision };
    return { state: noTail, revision: 'no-stream' };
  }

  function toNewEvents(steps: readonly Step[], { state, revision }: LoadedState<Tail>) {
    let { hash: previous, teamsUpTo } = state;
    let next = revision === 'no-stream' ? 0 : revision + 1;
    return steps.flatMap((step): (NewEvent & { link: Link })[] => {
      if (!('entry' in step)) return [];
      teamsUpTo = step.entry.ofTeamsAt ?? teamsUpTo;
      const event = { id: ids.uuid(), ...step.entry.event, metadata: metadataOf(step.entry) };
      const linked = link(event, next, { teamsUpTo, ...omitUndefined({ previous }) });
      previous = linked.link.hash;
      next += 1;
      return [linked];
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
    let hash = '';
    const outcome = await decideAndAppend<Tail, Step, never>({
      store,
      recent,
      stream: securityLogStream,
      initial: noTail,
      evolve,
      decode: (recorded) => ({ recorded }),
      decide: ({ teamsUpTo }) => ({
        kind: 'events',
        events: entries
          .filter(({ ofTeamsAt }) => ofTeamsAt === undefined || ofTeamsAt > teamsUpTo)
          .map((entry) => ({ entry })),
      }),
      toNewEvents: (steps, after) =>
        toNewEvents(steps, after).map(({ link: added, ...event }) => {
          ({ hash } = added);
          return event;
        }),
    });
    // The hash for `audit verify --head`, if logs are kept elsewhere.
    if (outcome.kind === 'decided')
      log.info({ revision: outcome.revision, hash }, 'the security log has grown');
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

function evolve(state: Tail, step: Step): Tail {
  if ('entry' in step) return { ...state, teamsUpTo: step.entry.ofTeamsAt ?? state.teamsUpTo };
  const known = linkOf(step.recorded);
  // A foreign row: the next entry links to what was there, and verification reports the row.
  return known === undefined ? state : { hash: known.hash, teamsUpTo: known.teamsUpTo as Position };
}
