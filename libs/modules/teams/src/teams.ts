/** Reads and changes the teams, which are folded from their signed events. */
import {
  type EventStore,
  type NewEvent,
  type RecordedEvent,
  beginning,
  decideAndAppend,
  eventsUntilNow,
  loadState,
} from '@tollgate/event-store';
import type { Actor, Environment, EventMetadata } from '@tollgate/core';
import { type Clock, type Ids, TollgateError, type Log } from '@tollgate/service-kit';
import type { ApiKey } from './api-key.ts';
import {
  type SignatureVerdict,
  checkSignature,
  signEvent,
  type TeamSigner,
  type TeamVerifier,
} from './signing/signed-events.ts';
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

/** Signs and verifies the events of teams. */
export interface TeamKeys {
  /** @throws TollgateError if there is no public key */
  verifier(): TeamVerifier;
  /** @throws TollgateError if this process does not have the private key */
  signer(): TeamSigner;
}

export interface TeamsDependencies {
  store: EventStore;
  teamKeys: TeamKeys;
  clock: Clock;
  ids: Ids;
  /** The actor in the events. */
  actor: Actor;
}

export type Teams = ReturnType<typeof createTeams>;

/** A team folded from its signed events. */
export interface SignedTeam {
  team: TeamState;
  /** Value of the last valid signature. */
  signature: string | undefined;
  /** Of the last event, valid or not; -1 before the first. */
  revision: number;
}

export const noTeam: SignedTeam = { team: undefined, signature: undefined, revision: -1 };

/** An event that is signed, or was read. */
type SignedEvent = NewEvent & Pick<RecordedEvent, 'stream' | 'revision'>;

/** Unsigned events are ignored; a gap among the signed ones makes the record unreadable. */
export function createTeams({ store, teamKeys, clock, ids, actor }: TeamsDependencies) {
  function newCause(): Omit<EventMetadata, 'schemaVersion'> {
    const causationId = ids.uuid();
    return { correlationId: causationId, causationId, actor, recordedAt: clock.now() };
  }

  function sign(
    stream: string,
    events: readonly TeamEvent[],
    { signature, revision: last }: SignedTeam,
  ): SignedEvent[] {
    // Without the private key, only a change of nothing is possible.
    if (events.length === 0) return [];
    const cause = newCause();
    const signer = teamKeys.signer();
    let previous = signature;
    return events.map((event, index) => {
      const revision = last + 1 + index;
      const metadata: EventMetadata = { schemaVersion: versionOfTeamEvent(event), ...cause };
      const unsigned = { id: ids.uuid(), ...event, metadata };
      const { value, ...signed } = signEvent(signer, { stream, revision, previous }, unsigned);
      previous = value;
      return { ...signed, stream, revision };
    });
  }

  return {
    /**
     * Executes commands in one append, so all of them or none: the first refusal stops it. `commandsFor` is called again if
     * another process has changed the team meanwhile.
     *
     * @throws TollgateError if the signing key of team events is missing
     */
    change: async (
      name: string,
      commandsFor: (team: TeamState) => readonly TeamCommand[],
    ): Promise<TeamRefusal | undefined> => {
      const stream = teamStream(name);
      const outcome = await decideAndAppend<SignedTeam, SignedEvent, TeamRefusal>({
        store,
        stream,
        ...evolutionWith(teamKeys.verifier()),
        decide(state) {
          const decision = decideInTurn(state.team, commandsFor(state.team));
          if (decision.kind === 'refused') return decision;
          return { kind: 'events', events: sign(stream, decision.events, state) };
        },
        toNewEvents: (events) => events,
      });
      return outcome.kind === 'refused' ? outcome.refusal : undefined;
    },
    find: async (name: string): Promise<TeamState> => {
      const evolution = evolutionWith(teamKeys.verifier());
      return (await loadState({ store, stream: teamStream(name), ...evolution })).state.team;
    },
    list: async (): Promise<Team[]> => {
      const { evolve } = evolutionWith(teamKeys.verifier());
      const teams = new Map<string, SignedTeam>();
      for await (const event of eventsUntilNow(store, { from: beginning, prefixes: [teamStreamPrefix] }))
        teams.set(event.stream, evolve(teams.get(event.stream) ?? noTeam, event));
      const known = [...teams.values()].flatMap(({ team }) => team ?? []);
      return known.toSorted((one, other) => (one.name < other.name ? -1 : 1));
    },
  };
}

/** 192 random bits: no slow hash and no lockout needed. */
export const newApiKey = (ids: Ids, environment: Environment): ApiKey => ({
  environment,
  keyId: ids.hex(6),
  secret: ids.hex(24),
});

const evolutionWith = (verifier: TeamVerifier) => ({
  initial: noTeam,
  decode: (recorded: RecordedEvent): SignedEvent => recorded,
  evolve: (state: SignedTeam, event: SignedEvent) => evolveSigned(verifier, state, event).state,
});

/**
 * The team after an event of the store, and whether the event is valid.
 *
 * @throws TollgateError `team_unreadable` if a signed event cannot be read, or one before it is missing
 */
export function evolveSigned(
  verifier: TeamVerifier,
  { team, signature }: SignedTeam,
  event: SignedEvent,
): { state: SignedTeam; verdict: SignatureVerdict['kind'] } {
  const { revision } = event;
  const verdict = checkSignature(verifier, event, signature);
  if (verdict.kind === 'unsigned') return { state: { team, signature, revision }, verdict: 'unsigned' };
  if (verdict.kind === 'gap') throw unreadable(event, 'An earlier signed event was removed or replaced.');
  try {
    const state = { team: evolveTeam(team, decodeTeamEvent(event)), signature: verdict.value, revision };
    return { state, verdict: 'signed' };
  } catch (cause) {
    throw unreadable(event, 'It cannot be read by this version of Tollgate.', cause);
  }
}

const unreadable = ({ stream, revision }: SignedEvent, why: string, cause?: unknown) =>
  new TollgateError('team_unreadable', `Event ${revision} of the stream ${stream} is damaged. ${why}`, {
    cause,
  });

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

interface TeamRecordsDependencies {
  verifier: TeamVerifier;
  log: Log;
  /** Called with a team after each valid event; without one if its record is no longer readable. */
  onChange: (stream: string, before: TeamState, after: TeamState) => void;
}

/**
 * An unsigned event is ignored and earlier signed ones stay valid, so that a forged row neither grants nor revokes anything. A
 * team whose signed events cannot be read, or have a gap, does not exist.
 */
export function createTeamRecords({ verifier, log, onChange }: TeamRecordsDependencies) {
  const teams = new Map<string, SignedTeam>();
  const damaged = new Set<string>();
  const unsigned = new Map<string, number>();

  function ignore({ stream, revision }: RecordedEvent): void {
    const count = (unsigned.get(stream) ?? 0) + 1;
    unsigned.set(stream, count);
    // An attacker who can write rows can write many.
    if (Number.isInteger(Math.log10(count)))
      log.error({ stream, revision, count }, 'a team event has no valid signature; it is ignored');
  }

  return {
    apply(event: RecordedEvent): void {
      const { stream, revision } = event;
      if (damaged.has(stream)) return;
      const before = teams.get(stream) ?? noTeam;
      try {
        const { state, verdict } = evolveSigned(verifier, before, event);
        if (verdict === 'unsigned') return ignore(event);
        teams.set(stream, state);
        onChange(stream, before.team, state.team);
      } catch (error) {
        damaged.add(stream);
        teams.delete(stream);
        onChange(stream, before.team, undefined);
        log.error({ error, stream, revision }, 'the record of a team cannot be read; its keys are rejected');
      }
    },
    clear: () => teams.clear(),
    /** Including those whose record cannot be read. */
    names: () => [...teams.keys(), ...damaged].map((stream) => stream.slice(teamStreamPrefix.length)),
    find: (name: string): Team | undefined => teams.get(teamStream(name))?.team,
    health: () => ({
      /** Ignored, because they are unsigned. */
      unsignedEvents: unsigned.values().reduce((sum, count) => sum + count, 0),
      /** Streams with such events, and unreadable streams. */
      suspectStreams: [...new Set([...unsigned.keys(), ...damaged])],
    }),
  };
}
