/** Reads a page of a list in pieces, so that no request blocks the event loop for long. */
import { omitUndefined, type ReadShare } from '@tollgate/service-kit';
import { type ViewList, pageLengthMax } from '@tollgate/lists';

/** Entries of one piece: a few milliseconds of work. */
const pieceMax = 50;
/** Maximum rows visited per request. A page that is not full by then ends, with a `nextCursor`. */
const visitedMax = 5_000;

export interface Paged {
  perPage: number;
  cursor?: string;
  limit?: number;
  withTotal?: boolean;
}

export async function readInPieces<View, Query extends Paged>(
  share: ReadShare,
  query: Query,
  list: (piece: Query) => ViewList<View>,
): Promise<ViewList<View>> {
  const { withTotal: _, ...further } = query;
  const views: View[] = [];
  let [visited, length] = [0, 0];
  let totalCount: number | undefined;
  let piece: Omit<Paged, 'limit'> = query;
  for (;;) {
    const limit = Math.min(pieceMax, query.perPage - views.length);
    const found = list({ ...piece, limit } as Paged as Query);
    if (found.kind === 'refused') return found;
    views.push(...found.views);
    visited += found.visited;
    length += found.length;
    totalCount ??= found.totalCount;
    const { nextCursor } = found;
    const isFull = views.length >= query.perPage || visited >= visitedMax || length >= pageLengthMax;
    if (nextCursor === undefined || isFull)
      return { kind: 'page', views, visited, length, ...omitUndefined({ nextCursor, totalCount }) };
    piece = { ...further, cursor: nextCursor };
    await share.giveWay();
  }
}
