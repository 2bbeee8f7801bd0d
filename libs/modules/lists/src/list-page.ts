/** Cursors of lists. */
import { createHash } from 'node:crypto';
import type { Environment } from '@tollgate/core';
import type { PaymentView, PayoutView } from '@tollgate/views';

/** Lists with pages. */
export type ListName = 'payments' | 'payouts' | 'operations' | 'refunds' | 'disputes' | 'journal' | 'reviews';

export interface ListOwner {
  environment: Environment;
  team: string;
}

/** Start of a page: after this row, in the order of the list. */
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
  /** Maximum entries of this piece, if a page is read in pieces. @default perPage */
  limit?: number;
}

/** The external form of a place. A cursor is valid for its own list only: the same owner, the same filters. */
export const formatCursor = (list: ListName, query: ListOwner, place: Place): string =>
  Buffer.from(`${place.at}.${place.key}.${checkOf(list, query, place)}`).toString('base64url');

/** The place of a cursor, or undefined if it does not belong to this list. */
export function parseCursor(list: ListName, query: ListOwner, text: string): Place | undefined {
  const plain = Buffer.from(text.slice(0, 512), 'base64url').toString();
  const [, at, key, check] = /^(\d{1,16})\.([\w~-]{1,200})\.([0-9a-f]{16})$/.exec(plain) ?? [];
  if (at === undefined || key === undefined) return undefined;
  const place = { at: Number(at), key };
  return check === checkOf(list, query, place) ? place : undefined;
}

/** The parts of a query that choose the amount shown, not the list. */
const pageFields: ReadonlySet<string> = new Set(['perPage', 'limit', 'cursor', 'withTotal']);

// A list is limited to its team and filters anyway; this rejects the cursor of another list with a clear error.
function checkOf(list: ListName, query: ListOwner, { at, key }: Place): string {
  const filters = Object.entries(query)
    .filter(([name, value]) => value !== undefined && !pageFields.has(name))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const text = JSON.stringify([list, filters, at, key]);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** A query for the entries of several owners. */
export type OfOwners<Query extends ListOwner> = Omit<Query, keyof ListOwner> & {
  owners: readonly ListOwner[];
};

/** The owner in cursors over several owners: no team has this name. */
const allTeams: ListOwner = { environment: 'production', team: '*' };

/** The query with the owner that its cursors are bound to. */
export const boundTo = <Query extends object>(
  owners: readonly ListOwner[],
  query: Query,
): Query & ListOwner => {
  const [owner, ...others] = owners;
  const { environment, team } = owner === undefined || others.length > 0 ? allTeams : owner;
  return { ...query, environment, team };
};

/** The invalid parameter of a query. */
export interface PageRefused {
  kind: 'refused';
  parameter: 'cursor' | 'withTotal';
}

/** The start of the page: after this place, or the first row. */
export function beginOf(list: ListName, query: PageQuery): { after: Place | undefined } | PageRefused {
  if (query.cursor === undefined) return { after: undefined };
  const after = parseCursor(list, query, query.cursor);
  return after === undefined ? { kind: 'refused', parameter: 'cursor' } : { after };
}

/** Maximum count of rows. */
export const totalCountMax = 100_000;

export interface ListQuery extends PageQuery {
  status?: string;
  phase?: string;
  orderNumber?: string;
  /** For refunds and disputes only. */
  paymentToken?: string;
  currency?: string;
  /** Milliseconds since the Unix epoch, inclusive. */
  createdFrom?: number;
  /** Milliseconds since the Unix epoch, exclusive. */
  createdBefore?: number;
  /** True: only those with an open review; false: only the others. */
  needsReview?: boolean;
  /** Only those with a call without a known outcome. */
  unresolved?: true;
  /** Only payments with an undecided refund. */
  refundOpen?: true;
  /** Names and texts, sorted by name; all of them must match. */
  metadata?: readonly (readonly [name: string, text: string])[];
  withTotal?: boolean;
  /** By creation time. Only in lists over all teams. @default newest first */
  order?: ListOrder;
}
/** By creation, which every index of the lists ends with: any other order would scan all rows. */
export type ListOrder = 'newest' | 'oldest';

/** The entries of several owners; `accepts` filters by conditions without an index. */
export interface Listing<Entry> extends OfOwners<ListQuery> {
  accepts?: (entry: Entry) => boolean;
}

interface ListedPage<View> {
  kind: 'page';
  /** Newest first. */
  views: View[];
  /** Absent on the last page. */
  nextCursor?: string;
  /** On request; {@link totalCountMax} means that many or more, of each kind. */
  totalCount?: number;
  /** Rows visited. */
  visited: number;
  /** Characters of the stored texts of the views. */
  length: number;
}
export type ViewList<View> = ListedPage<View> | PageRefused;
export type OperationView = PaymentView | PayoutView;
