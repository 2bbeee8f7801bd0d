/** Cursors of lists. */
import { createHash } from 'node:crypto';
import type { Environment } from '@tollgate/core';

/** The lists whose pages follow one another. */
export type ListName = 'payments' | 'payouts' | 'operations' | 'refunds' | 'disputes' | 'journal' | 'reviews';

/** Whose list it is. */
export interface ListOwner {
  environment: Environment;
  team: string;
}

/** Where a page begins: after this row, in the order of the list. */
export interface Place {
  /** Milliseconds since the Unix epoch. */
  at: number;
  key: string;
}

export interface PageQuery extends ListOwner {
  /** 1 to {@link perPageMax}. */
  perPage: number;
  /** `nextCursor` of the page before. */
  cursor?: string;
  /** Of a page that is read in pieces: entries of this piece at most; `perPage` by default. */
  limit?: number;
}

/** A place as the caller carries it. A cursor fits the list that it was given with: of the same owner, by the same filters. */
export const formatCursor = (list: ListName, query: ListOwner, place: Place): string =>
  Buffer.from(`${place.at}.${place.key}.${checkOf(list, query, place)}`).toString('base64url');

/** The place that a cursor names, or undefined for a text that is no cursor of this list. */
export function parseCursor(list: ListName, query: ListOwner, text: string): Place | undefined {
  const plain = Buffer.from(text.slice(0, 512), 'base64url').toString();
  const [, at, key, check] = /^(\d{1,16})\.([\w~-]{1,200})\.([0-9a-f]{16})$/.exec(plain) ?? [];
  if (at === undefined || key === undefined) return undefined;
  const place = { at: Number(at), key };
  return check === checkOf(list, query, place) ? place : undefined;
}

/** The parts of a query that say how much of a list is shown, not which list. */
const pageFields: ReadonlySet<string> = new Set(['perPage', 'limit', 'cursor', 'withTotal']);

// A list is limited to its team and filters anyway; this rejects the cursor of another list with a clear error.
function checkOf(list: ListName, query: ListOwner, { at, key }: Place): string {
  const filters = Object.entries(query)
    .filter(([name, value]) => value !== undefined && !pageFields.has(name))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const text = JSON.stringify([list, filters, at, key]);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** The owner in the cursors of lists over all teams: no team has this name. */
export const everybody: ListOwner = { environment: 'production', team: '*' };

/** Which parameter of a query cannot be followed. */
export interface PageRefused {
  kind: 'refused';
  parameter: 'cursor' | 'withTotal';
}

/** Where the page begins: after this place, or with the first row. */
export function beginOf(list: ListName, query: PageQuery): { after: Place | undefined } | PageRefused {
  if (query.cursor === undefined) return { after: undefined };
  const after = parseCursor(list, query, query.cursor);
  return after === undefined ? { kind: 'refused', parameter: 'cursor' } : { after };
}
