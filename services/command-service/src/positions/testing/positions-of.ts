import { beginning, type EventStore } from '@tollgate/event-store';
import { type PositionSource, readCurrentPositions } from '@tollgate/view-index';
import type { Core } from '../../core.ts';
import { type Positions, createPositions } from '../positions.ts';

/** A read model that has taken nothing over yet: every position is summed up from the events. */
const wholeStore = (store: EventStore): PositionSource => ({
  store,
  position: () => beginning,
  quarantined: () => [],
  sums: () => [],
  find: () => undefined,
  atOnce: (read) => read(),
});

/** @param sharing the teams that share a wallet, whatever its name */
export const positionsOf = (core: Core, sharing: readonly string[] = []): Positions =>
  createPositions({
    ...core,
    directory: { teamsSharing: () => sharing },
    index: { currentPositions: (query) => readCurrentPositions(wholeStore(core.store), query) },
  });
