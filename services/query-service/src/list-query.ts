/** Maps a caller's parameters to a query of the index. */
import { omitUndefined, dayMs } from '@tollgate/service-kit';
import type { Caller } from '@tollgate/teams';

interface Filters {
  metadata?: Readonly<Record<string, string>> | undefined;
  dateFrom?: number | undefined;
  dateTo?: number | undefined;
}

/** Both dates are inclusive. */
export function toListQuery<Query extends Filters>(caller: Caller, query: Query) {
  const { dateFrom, dateTo, metadata, ...rest } = query;
  const { team, environment } = caller;
  const createdBefore = dateTo === undefined ? undefined : dateTo + dayMs;
  // The team comes last, so that no parameter can override it.
  return {
    ...omitUndefined({ ...rest, metadata: notedIn(metadata), createdFrom: dateFrom, createdBefore }),
    team,
    environment,
  };
}

/** In one order, so that a cursor fits however they are written. */
export const notedIn = (metadata: Filters['metadata']) =>
  metadata && Object.entries(metadata).toSorted(([one], [other]) => (one < other ? -1 : 1));
