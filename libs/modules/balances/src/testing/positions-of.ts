import { beginning, type EventStore } from '@tollgate/event-store';
import {
  type PositionSource,
  readCurrentPositions,
  type ViewEnvelope,
  kindOfStream,
  payoutKind,
  paymentKind,
} from '@tollgate/views';
import type { Core } from '@tollgate/core';
import { type Positions, createPositions } from '../positions.ts';

/** A read model that is never behind: every position is summed up from the events. */
async function wholeStore(store: EventStore): Promise<PositionSource> {
  const views = new Map<string, ViewEnvelope>();
  const prefixes = [paymentKind.streamPrefix, payoutKind.streamPrefix];
  for await (const item of store.subscribe({
    from: beginning,
    prefixes,
    signal: new AbortController().signal,
  })) {
    if (item.kind === 'caught-up') break;
    const view = kindOfStream(item.stream)?.fold(views.get(item.stream), item);
    if (view !== undefined) views.set(item.stream, view);
  }
  const parts = [...views].flatMap(([stream, view]) => kindOfStream(stream)?.positionOf?.(view) ?? []);
  return {
    waitForNow: async () => true,
    quarantined: () => [],
    sums: ({ environment, teams, currency }) =>
      parts.filter(
        (part) => part.environment === environment && part.currency === currency && teams.includes(part.team),
      ),
    find: ({ streamPrefix }, token) => views.get(`${streamPrefix}${token}`),
    atOnce: (read) => read(),
  };
}

/** @param sharing the teams that share a wallet, whatever its name */
export const positionsOf = (core: Core, sharing: readonly string[] = []): Positions =>
  createPositions({
    ...core,
    directory: { teamsSharing: () => sharing },
    index: { currentPositions: async (query) => readCurrentPositions(await wholeStore(core.store), query) },
  });
