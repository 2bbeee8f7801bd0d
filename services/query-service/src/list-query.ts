/** Maps a caller's parameters to a query of the index. */
import type { Environment } from '@tollgate/core';
import type { ListOwner } from '@tollgate/lists';
import { omitUndefined, dayMs } from '@tollgate/service-kit';
import type { Caller, Reach } from '@tollgate/teams';
import type { ReadDependencies } from './reading.ts';

interface Filters {
  perPage?: number | undefined;
  metadata?: Readonly<Record<string, string>> | undefined;
  dateFrom?: number | undefined;
  dateTo?: number | undefined;
}

/** For the caller's own entries. */
export const ofCaller = <Query extends Filters>({
  caller: { team, environment },
  query,
}: {
  caller: Pick<Caller, 'team' | 'environment'>;
  query: Query;
}) => toListQuery([{ team, environment }], query);

/** For those of the teams within reach that the caller asks for. */
export function ofTeams<Query extends Filters & AskedOwners>(
  deps: Pick<ReadDependencies, 'directory'>,
  { reach, query: { team, environment, ...query } }: { reach: Reach; query: Query },
  among = ownersIn,
) {
  return toListQuery(among(deps, reach, { team, environment }), query);
}

/** Both dates are inclusive. */
function toListQuery<Query extends Filters>(owners: readonly ListOwner[], query: Query) {
  const { dateFrom, dateTo, metadata, ...rest } = query;
  const createdBefore = dateTo === undefined ? undefined : dateTo + dayMs;
  // The owners come last, so that no parameter can override them.
  return {
    ...omitUndefined({ createdFrom: dateFrom, createdBefore, ...rest, metadata: notedIn(metadata) }),
    owners,
  };
}

/** In one order, so that a cursor fits however they are written. */
const notedIn = (metadata: Filters['metadata']) =>
  metadata && Object.entries(metadata).toSorted(([one], [other]) => (one < other ? -1 : 1));

interface AskedOwners {
  team?: string | undefined;
  environment?: Environment | undefined;
}

/** The requested part of the caller's reach. */
export const ownersIn = (
  { directory }: Pick<ReadDependencies, 'directory'>,
  reach: Reach,
  { team, environment }: AskedOwners = {},
): ListOwner[] => reach.ownersAmong(team === undefined ? directory.names() : [team], environment);

/** Includes objects without a team, for callers who reach all of them. */
export function allOwnersIn(
  deps: Pick<ReadDependencies, 'directory'>,
  reach: Reach,
  asked: AskedOwners = {},
): ListOwner[] {
  const owners = ownersIn(deps, reach, asked);
  if (!reach.isEverywhere || asked.team !== undefined) return owners;
  return [...owners, ...reach.ownersAmong([''], asked.environment)];
}
