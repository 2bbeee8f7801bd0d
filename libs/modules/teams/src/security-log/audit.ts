/** Reads and verifies the security log, for people. */
import { type EventStore, type RecordedEvent, beginning, eventsUntilNow } from '@tollgate/event-store';
import { eventMetadataSchema } from '@tollgate/core';
import { omitUndefined } from '@tollgate/service-kit';
import { type TeamVerifier, checkSignature } from '../signing/signed-events.ts';
import type { Reach } from '../operators/grants.ts';
import { teamStreamPrefix } from '../team.ts';
import { type CheckedChain, checkChain, isNextInChain } from './chain.ts';
import {
  type SecurityEventKind,
  decodeSecurityEvent,
  securityEventKinds,
  securityLogStream,
} from './entries.ts';

interface AuditFilter {
  team?: string;
  kind?: SecurityEventKind;
  /** Only what this person did. */
  person?: string;
  /** Only changes of teams of this type. */
  change?: string;
}

export interface AuditQuery extends AuditFilter {
  /** Milliseconds since the Unix epoch. */
  since: number;
  /** Maximum entries. */
  limit: number;
}

function isWanted(entry: AuditEntry, { team, kind, person, change }: AuditFilter): boolean {
  const types: readonly string[] | undefined = kind && securityEventKinds[kind];
  return (
    types?.includes(entry.type) !== false &&
    (team === undefined || teamIn(entry) === team) &&
    (change === undefined || entry.data['change'] === change) &&
    (person === undefined || (entry.actor?.kind === 'person' && entry.actor.name === person))
  );
}

/** The last entries that match, oldest first. */
export async function readAudit(
  store: Pick<EventStore, 'read'>,
  { since, limit, ...filter }: AuditQuery,
): Promise<AuditEntry[]> {
  const found: AuditEntry[] = [];
  for await (const recorded of store.read(securityLogStream, { direction: 'backwards' })) {
    const entry = toEntry(recorded);
    if (entry.at < since || found.length >= limit) break;
    if (isWanted(entry, filter)) found.push(entry);
  }
  return found.reverse();
}

/** Maximum entries visited per page: a filter may exclude most of them. */
const lookedAtMax = 2_000;

type AuditPageQuery = Omit<AuditQuery, 'since'> & {
  before?: number | undefined;
  /** What the reader may see. */
  reach: Reach;
};

/** An entry without a team requires a reach of everything, one without an environment a reach of the team anywhere. */
function maySee(reach: Reach, entry: AuditEntry): boolean {
  if (reach.isEverywhere) return true;
  const [team, environment] = [teamIn(entry), inDetail(entry, 'environment')];
  if (typeof team !== 'string') return false;
  return typeof environment === 'string' ? reach.includes({ team, environment }) : reach.includesTeam(team);
}

/** @param before a revision; default: the end */
export async function readAuditPage(
  store: Pick<EventStore, 'read'>,
  { before, limit, reach, ...filter }: AuditPageQuery,
) {
  /** Newest first. `checked`: visited entries, including excluded ones, that are unchanged and in one chain. */
  const page = { entries: [] as AuditEntry[], checked: 0 };
  /** The newest entry that was changed, or whose predecessor is missing. */
  let faultAt: number | undefined;
  /** @param next `before` of the next page; absent at the end */
  const shown = (next?: number) => ({ ...page, ...omitUndefined({ faultAt, next }) });
  const from = before === undefined ? {} : { from: before - 1 };
  if (before !== undefined && before <= 0) return shown();
  let newer: RecordedEvent | undefined;
  let lookedAt = 0;
  const check = (event: RecordedEvent | undefined) => {
    if (newer === undefined) return;
    if (isNextInChain(event, newer)) page.checked += 1;
    else faultAt ??= newer.revision;
  };
  // One more than shown: it verifies the last one.
  for await (const recorded of store.read(securityLogStream, {
    ...from,
    direction: 'backwards',
    limit: lookedAtMax + 1,
  })) {
    check(recorded);
    const isFull = page.entries.length >= limit || lookedAt >= lookedAtMax;
    if (isFull) return shown(recorded.revision + 1);
    [newer, lookedAt] = [recorded, lookedAt + 1];
    const entry = toEntry(recorded);
    if (isWanted(entry, filter) && maySee(reach, entry)) page.entries.push(entry);
  }
  check(undefined);
  return shown();
}

/** An entry for display; `at` is in milliseconds since the Unix epoch. */
export type AuditEntry = ReturnType<typeof toEntry>;

function toEntry(recorded: RecordedEvent) {
  const { revision, type } = recorded;
  const metadata = eventMetadataSchema.safeParse(recorded.metadata).data;
  const at = metadata?.recordedAt ?? recorded.recordedAt;
  const data = Object(recorded.data) as Readonly<Record<string, unknown>>;
  return { revision, at, type, actor: metadata?.actor, data };
}

function teamIn(entry: AuditEntry): unknown {
  const { stream } = entry.data;
  return typeof stream === 'string' ? stream.slice(teamStreamPrefix.length) : inDetail(entry, 'team');
}

/** The subject of a command. */
const inDetail = ({ data }: AuditEntry, name: string): unknown =>
  data[name] ?? (Object(data['detail']) as Record<string, unknown>)[name];

/** An event of a team that only one of the two has. */
interface TeamFault {
  kind: 'not_in_log' | 'gone_or_changed';
  stream: string;
  revision: number;
}

export interface CheckedLog extends CheckedChain {
  teamFaults: readonly TeamFault[];
}

/**
 * Verifies the chain, and that the log and the streams of the teams agree: a removed event of a team, even the last, is still
 * in the log.
 *
 * @param noted hash of an earlier entry that was noted elsewhere
 */
export async function verifyAudit(
  { store, verifier }: { store: EventStore; verifier: TeamVerifier },
  noted?: string,
): Promise<CheckedLog> {
  const logged: TeamEvent[] = [];
  async function* noting(): AsyncGenerator<RecordedEvent> {
    for await (const recorded of store.read(securityLogStream)) {
      const change = toChange(recorded);
      if (change !== undefined) logged.push(change);
      yield recorded;
    }
  }
  const chain = await checkChain(noting(), noted);
  const there = await signedEvents(store, verifier);
  // Every entry counts: if the last event of a team was removed, the next one replaces it, and is in the log as well.
  const gone = logged.filter((event) => there.get(placeOf(event))?.signature !== event.signature);
  const places = new Set(logged.map(placeOf));
  const unlogged = [...there.values()].filter((event) => !places.has(placeOf(event)));
  const faults = (events: readonly TeamEvent[], kind: TeamFault['kind']): TeamFault[] =>
    events.map(({ stream, revision }) => ({ kind, stream, revision }));
  return { ...chain, teamFaults: [...faults(gone, 'gone_or_changed'), ...faults(unlogged, 'not_in_log')] };
}

interface TeamEvent {
  stream: string;
  revision: number;
  signature: string;
}

const placeOf = ({ stream, revision }: TeamEvent): string => `${stream} ${revision}`;

function toChange(recorded: RecordedEvent) {
  if (recorded.type !== 'TeamChanged') return undefined;
  try {
    const event = decodeSecurityEvent(recorded);
    return event.type === 'TeamChanged' ? event.data : undefined;
  } catch {
    // The chain links to it.
    return undefined;
  }
}

/** By their positions. */
async function signedEvents(store: EventStore, verifier: TeamVerifier): Promise<Map<string, TeamEvent>> {
  const found = new Map<string, TeamEvent>();
  const previous = new Map<string, string>();
  for await (const item of eventsUntilNow(store, { from: beginning, prefixes: [teamStreamPrefix] })) {
    const verdict = checkSignature(verifier, item, previous.get(item.stream));
    if (verdict.kind !== 'signed') continue;
    previous.set(item.stream, verdict.value);
    const event = { stream: item.stream, revision: item.revision, signature: verdict.value };
    found.set(placeOf(event), event);
  }
  return found;
}
