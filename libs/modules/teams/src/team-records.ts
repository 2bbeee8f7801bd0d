/** The teams as their signed events tell of them, and what about their records is suspect. */
import type { RecordedEvent } from '@tollgate/event-store';
import type { Log } from '@tollgate/service-kit';
import type { TeamVerifier } from './signing/signing-keys.ts';
import { type Team, type TeamState, teamStream, teamStreamPrefix } from './team.ts';
import { type SignedTeam, evolveSigned, noTeam } from './teams.ts';

/** How far the records of teams can be trusted. */
export interface DirectoryHealth {
  /** Events that count for nothing because they are not signed. */
  unsignedEvents: number;
  /** Streams that have such events, or that cannot be read. */
  suspectStreams: readonly string[];
}

interface TeamRecordsDependencies {
  verifier: TeamVerifier;
  log: Log;
  /** Called with a team after each event that counts; without one if its record cannot be read any more. */
  onChange: (stream: string, before: TeamState, after: TeamState) => void;
}

/**
 * An event that is not signed changes nothing: what was signed before it continues to count, so that a row which somebody
 * has written neither opens nor closes anything. A team whose signed events cannot be read, or have a gap, is no more.
 */
export function createTeamRecords({ verifier, log, onChange }: TeamRecordsDependencies) {
  const teams = new Map<string, SignedTeam>();
  const damaged = new Set<string>();
  const unsigned = new Map<string, number>();

  function ignore({ stream, revision }: RecordedEvent): void {
    const count = (unsigned.get(stream) ?? 0) + 1;
    unsigned.set(stream, count);
    // Somebody who can write rows can write many.
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
    /** Also of one whose record cannot be read. */
    names: () => [...teams.keys(), ...damaged].map((stream) => stream.slice(teamStreamPrefix.length)),
    find: (name: string): Team | undefined => teams.get(teamStream(name))?.team,
    health: (): DirectoryHealth => ({
      unsignedEvents: unsigned.values().reduce((sum, count) => sum + count, 0),
      suspectStreams: [...new Set([...unsigned.keys(), ...damaged])],
    }),
  };
}
