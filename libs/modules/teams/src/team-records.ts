/** The teams folded from their signed events, and the anomalies in their records. */
import type { RecordedEvent } from '@tollgate/event-store';
import type { Log } from '@tollgate/service-kit';
import type { TeamVerifier } from './signing/signing-keys.ts';
import { type Team, type TeamState, teamStream, teamStreamPrefix } from './team.ts';
import { type SignedTeam, evolveSigned, noTeam } from './teams.ts';

export interface DirectoryHealth {
  /** Ignored, because they are unsigned. */
  unsignedEvents: number;
  /** Streams with such events, and unreadable streams. */
  suspectStreams: readonly string[];
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
    health: (): DirectoryHealth => ({
      unsignedEvents: unsigned.values().reduce((sum, count) => sum + count, 0),
      suspectStreams: [...new Set([...unsigned.keys(), ...damaged])],
    }),
  };
}
