/** Reads and checks the security log, for people. */
import type { EventStore, RecordedEvent } from '@tollgate/event-store';
import { type Actor, eventMetadataSchema } from '@tollgate/payment-domain';
import type { TeamVerifier } from '../signing/signing-keys.ts';
import { checkSignature } from '../signing/signed-events.ts';
import { teamStreamPrefix } from '../team.ts';
import { type CheckedChain, checkChain } from './chain.ts';
import {
  type SecurityEventKind,
  decodeSecurityEvent,
  securityEventKinds,
  securityLogStream,
} from './entries.ts';
import { beginning } from '@tollgate/event-store';

/** An entry as it is shown. */
export interface AuditEntry {
  revision: number;
  /** When it was written, milliseconds since the Unix epoch. */
  at: number;
  type: string;
  actor: Actor | undefined;
  data: Readonly<Record<string, unknown>>;
}

export interface AuditQuery {
  /** Milliseconds since the Unix epoch. */
  since: number;
  team?: string;
  kind?: SecurityEventKind;
  /** Entries at most. */
  limit: number;
}

/** The last entries that match, oldest first. */
export async function readAudit(
  store: Pick<EventStore, 'read'>,
  { since, team, kind, limit }: AuditQuery,
): Promise<AuditEntry[]> {
  const found: AuditEntry[] = [];
  const types: readonly string[] | undefined = kind && securityEventKinds[kind];
  for await (const recorded of store.read(securityLogStream, { direction: 'backwards' })) {
    const entry = toEntry(recorded);
    if (entry.at < since || found.length >= limit) break;
    const isAsked = types?.includes(entry.type) !== false;
    if (isAsked && (team === undefined || teamIn(entry) === team)) found.push(entry);
  }
  return found.reverse();
}

function toEntry(recorded: RecordedEvent): AuditEntry {
  const { revision, type } = recorded;
  const metadata = eventMetadataSchema.safeParse(recorded.metadata).data;
  const at = metadata?.recordedAt ?? recorded.recordedAt;
  return {
    revision,
    at,
    type,
    actor: metadata?.actor,
    data: Object(recorded.data) as Record<string, unknown>,
  };
}

function teamIn({ data: { team, stream } }: AuditEntry): unknown {
  if (team !== undefined) return team;
  return typeof stream === 'string' ? stream.slice(teamStreamPrefix.length) : undefined;
}

/** An event of a team that is in one of the two only. */
interface TeamFault {
  kind: 'not_in_log' | 'gone_or_changed';
  stream: string;
  revision: number;
}

export interface CheckedLog extends CheckedChain {
  teamFaults: readonly TeamFault[];
}

/**
 * Checks the chain, and that the log and the streams of the teams tell the same: an event of a team that was removed, also
 * the last, is still in the log.
 *
 * @param noted hash of an entry that was noted elsewhere before
 */
export async function verifyAudit(
  { store, verifier }: { store: EventStore; verifier: TeamVerifier },
  noted?: string,
): Promise<CheckedLog> {
  const logged = new Map<string, string>();
  async function* noting(): AsyncGenerator<RecordedEvent> {
    for await (const recorded of store.read(securityLogStream)) {
      const change = toChange(recorded);
      if (change !== undefined) logged.set(`${change.stream} ${change.revision}`, change.signature);
      yield recorded;
    }
  }
  const chain = await checkChain(noting(), noted);
  const there = await signaturesOf(store, verifier);
  const compare = (one: Map<string, string>, other: Map<string, string>, kind: TeamFault['kind']) =>
    [...one].flatMap(([place, value]): TeamFault[] => {
      const [stream = '', revision] = place.split(' ');
      return other.get(place) === value ? [] : [{ kind, stream, revision: Number(revision) }];
    });
  const gone = compare(logged, there, 'gone_or_changed');
  const unlogged = compare(there, logged, 'not_in_log').filter(
    ({ stream, revision }) => !logged.has(`${stream} ${revision}`),
  );
  return { ...chain, teamFaults: [...gone, ...unlogged] };
}

function toChange(recorded: RecordedEvent) {
  if (recorded.type !== 'TeamChanged') return undefined;
  try {
    const event = decodeSecurityEvent(recorded);
    return event.type === 'TeamChanged' ? event.data : undefined;
  } catch {
    // The chain names it.
    return undefined;
  }
}

/** Of every signed event of a team, by its place. */
async function signaturesOf(store: EventStore, verifier: TeamVerifier): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const previous = new Map<string, string>();
  const { signal } = new AbortController();
  for await (const item of store.subscribe({ from: beginning, prefixes: [teamStreamPrefix], signal })) {
    if (item.kind === 'caught-up') break;
    const verdict = checkSignature(verifier, item, previous.get(item.stream));
    if (verdict.kind !== 'signed') continue;
    previous.set(item.stream, verdict.value);
    found.set(`${item.stream} ${item.revision}`, verdict.value);
  }
  return found;
}
