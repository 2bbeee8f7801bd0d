/** Reads and changes the teams: the one way to them, of the command line and of the gateway's own demo team. */
import { type EventStore, type RecordedEvent, beginning, decideAndAppend } from '@tollgate/event-store';
import { type Environment, type EventMetadata } from '@tollgate/payment-domain';
import {
  type Team,
  type TeamCommand,
  type TeamDecision,
  type TeamEvent,
  type TeamRefusal,
  type TeamState,
  decideTeam,
  decodeTeamEvent,
  evolveTeam,
  teamStream,
  teamStreamPrefix,
  versionOfTeamEvent,
} from './team.ts';
import type { ApiKey } from './api-key.ts';
import { type Clock, type Ids, TollgateError } from '@tollgate/service-kit';

export interface TeamsDependencies {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  /** The service that the events name as their cause. */
  actor: string;
}

export interface Teams {
  /**
   * Carries out commands in one append, so all of them or none: the first refusal stops it. `commandsFor` is asked again
   * where another process has changed the team meanwhile.
   */
  change(
    name: string,
    commandsFor: (team: TeamState) => readonly TeamCommand[],
  ): Promise<TeamRefusal | undefined>;
  find(name: string): Promise<TeamState>;
  /** All teams by name. */
  list(): Promise<Team[]>;
}

/** All rejects with `team_unreadable` for a record that no version of ours has written, and with StoreUnavailable. */
export function createTeams({ store, clock, ids, actor }: TeamsDependencies): Teams {
  function newCause(): Omit<EventMetadata, 'schemaVersion'> {
    const causationId = ids.uuid();
    const cause = {
      correlationId: causationId,
      causationId,
      actor: { kind: 'service' as const, name: actor },
    };
    return { ...cause, recordedAt: clock.now() };
  }

  return {
    change: async (name, commandsFor) => {
      const cause = newCause();
      const outcome = await decideAndAppend<TeamState, TeamEvent, TeamRefusal>({
        store,
        stream: teamStream(name),
        ...evolution,
        decide: (team) => decideInTurn(team, commandsFor(team)),
        toNewEvents: (events) =>
          events.map((event) => {
            const metadata: EventMetadata = { schemaVersion: versionOfTeamEvent(event), ...cause };
            return { id: ids.uuid(), ...event, metadata };
          }),
      });
      return outcome.kind === 'refused' ? outcome.refusal : undefined;
    },
    find: async (name) => {
      let team: TeamState;
      for await (const recorded of store.read(teamStream(name))) team = fold(team, recorded);
      return team;
    },
    list: async () => {
      const teams = new Map<string, Team>();
      const { signal } = new AbortController();
      const subscription = store.subscribe({ from: beginning, prefixes: [teamStreamPrefix], signal });
      for await (const item of subscription) {
        if (item.kind === 'caught-up') break;
        teams.set(item.stream, fold(teams.get(item.stream), item));
      }
      return [...teams.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
    },
  };
}

/** 192 bits of chance: what nobody guesses needs no slow hash and no lock. */
export const newApiKey = (ids: Ids, environment: Environment): ApiKey => ({
  environment,
  keyId: ids.hex(6),
  secret: ids.hex(24),
});

const evolution = { initial: undefined, decode: decodeRecorded, evolve: evolveTeam };

const fold = (team: TeamState, recorded: RecordedEvent): Team => evolveTeam(team, decodeRecorded(recorded));

function decodeRecorded(recorded: RecordedEvent): TeamEvent {
  try {
    return decodeTeamEvent(recorded);
  } catch (cause) {
    const { stream, revision } = recorded;
    throw new TollgateError(
      'team_unreadable',
      `Event ${revision} of the stream ${stream} cannot be read by this version of Tollgate.`,
      { cause },
    );
  }
}

function decideInTurn(team: TeamState, commands: readonly TeamCommand[]): TeamDecision {
  let state = team;
  const events: TeamEvent[] = [];
  for (const command of commands) {
    const decision = decideTeam(state, command);
    if (decision.kind === 'refused') return decision;
    events.push(...decision.events);
    state = decision.events.reduce<TeamState>(evolveTeam, state);
  }
  return { kind: 'events', events };
}
