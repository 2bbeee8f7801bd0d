/**
 * The chain of the security log: each event carries the hash of the previous one and its own. Changes, removals, insertions and
 * reordering are detected. A removed end, or a rewrite of everything, is detected only against a hash that was noted
 * elsewhere.
 */
import { createHash } from 'node:crypto';
import type { NewEvent, RecordedEvent } from '@tollgate/event-store';
import { canonicalJson } from '@tollgate/service-kit';
import { z } from 'zod';

const linkSchema = z.object({
  /** Hash of the previous event; absent in the first. */
  previous: z.string().optional(),
  /** Position of the latest event of a team in the log by then. */
  teamsUpTo: z.string(),
  hash: z.string(),
});
/** In the metadata of each event of the log. */
type Link = z.infer<typeof linkSchema>;

type Unlinked = NewEvent & { metadata: object };

/** The event with its link. */
export function link(
  event: Unlinked,
  revision: number,
  { previous, teamsUpTo }: Omit<Link, 'hash'>,
): NewEvent {
  const place = { ...(previous === undefined ? {} : { previous }), teamsUpTo };
  const linked = { ...place, hash: hashOf(event, revision, place) };
  return { ...event, metadata: { ...event.metadata, link: linked } };
}

/** Undefined if there is none. */
export const linkOf = ({ metadata }: Pick<RecordedEvent, 'metadata'>): Link | undefined =>
  z.object({ link: linkSchema }).safeParse(metadata).data?.link;

function hashOf({ id, type, data, metadata }: Unlinked, revision: number, place: Omit<Link, 'hash'>): string {
  const hashed = { revision, id, type, data, metadata, place };
  const text = canonicalJson({ purpose: 'tollgate-security-log-1', ...hashed });
  return createHash('sha256').update(text).digest('hex');
}

interface ChainFault {
  kind: 'changed' | 'removed' | 'out_of_order';
  revision: number;
}

export interface CheckedChain {
  /** The last event, if any. */
  head: { revision: number; hash: string } | undefined;
  /** The first fault. */
  fault: ChainFault | undefined;
  /** True if the log contains the noted hash; undefined without one. */
  hasNoted: boolean | undefined;
}

/**
 * Verifies the whole log, from its first event on.
 *
 * @param noted hash of an earlier event that was noted elsewhere
 */
export async function checkChain(
  events: AsyncIterable<RecordedEvent>,
  noted?: string,
): Promise<CheckedChain> {
  let head: CheckedChain['head'];
  let hasNoted = noted === undefined ? undefined : false;
  for await (const event of events) {
    const kind = faultOf(event, head);
    const hash = linkOf(event)?.hash ?? '';
    if (kind !== undefined) return { head, fault: { kind, revision: event.revision }, hasNoted };
    head = { revision: event.revision, hash };
    if (hash === noted) hasNoted = true;
  }
  return { head, fault: undefined, hasNoted };
}

/** True if an event is unchanged, and the direct successor of `before`. */
export const isNextInChain = (before: RecordedEvent | undefined, event: RecordedEvent): boolean =>
  faultOf(event, before && { revision: before.revision, hash: linkOf(before)?.hash ?? '' }) === undefined;

function faultOf(event: RecordedEvent, before: CheckedChain['head']): ChainFault['kind'] | undefined {
  const { revision, id, type, data } = event;
  const { link: given, ...metadata } = Object(event.metadata) as Record<string, unknown>;
  const parsed = linkSchema.safeParse(given).data;
  if (parsed === undefined) return 'changed';
  const { hash, ...place } = parsed;
  if (hashOf({ id, type, data, metadata }, revision, place) !== hash) return 'changed';
  if (revision !== (before?.revision ?? -1) + 1) return 'removed';
  return place.previous === before?.hash ? undefined : 'out_of_order';
}
