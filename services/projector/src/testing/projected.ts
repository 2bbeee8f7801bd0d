/** A projector over a real store, for specs. */
import { beginning, StoreUnavailable, type EventStore } from '@tollgate/event-store';
import {
  checkpointStream,
  viewCheckpointSchema,
  viewKinds,
  kindOfStream,
  viewStreamOf,
  type ViewCheckpoint,
  createProjector,
  type Projector,
  type ProjectorOptions,
} from '@tollgate/views';
import { foldStored, storedViews } from '@tollgate/views/testing';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { expect, onTestFinished, vi } from 'vitest';

export const soon = { timeout: 10_000, interval: 5 };

export type RunningProjector = Projector & { stop: () => Promise<void> };

/** Projects in the background, until it is stopped or the test ends. */
export function startProjector(store: EventStore, options: Partial<ProjectorOptions> = {}): RunningProjector {
  const parts = { store, clock: systemClock, ids: systemIds, log: silentLog };
  const projector = createProjector({ ...parts, restMs: 0, ...options });
  const stopping = new AbortController();
  const running = projector.run(stopping.signal);
  const stop = async () => {
    stopping.abort();
    await running;
  };
  onTestFinished(stop);
  return { ...projector, stop };
}

export async function checkpointIn(store: EventStore): Promise<ViewCheckpoint | undefined> {
  const [last] = await Array.fromAsync(store.read(checkpointStream));
  return last === undefined ? undefined : viewCheckpointSchema.parse(last.data);
}

/** Waits until every event in the store is projected. */
export async function projected(store: EventStore, projector: Pick<Projector, 'health'>): Promise<void> {
  const ending = new AbortController();
  let end = beginning;
  for await (const item of store.subscribe({
    from: beginning,
    prefixes: viewKinds.map(({ streamPrefix }) => streamPrefix),
    signal: ending.signal,
  })) {
    if (item.kind === 'caught-up') break;
    end = item.position;
  }
  await vi.waitFor(() => expect(projector.health().position >= end).toBe(true), soon);
}

const sorted = (texts: Map<string, string>): [string, string][] =>
  [...texts].sort(([a], [b]) => (a < b ? -1 : 1));

/** The views after a rebuild from zero, by stream. */
async function rebuilt(store: EventStore, streams: readonly string[]): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const stream of streams) {
    const kind = kindOfStream(stream);
    if (kind === undefined) throw new Error(`${stream} has no view`);
    const view = await foldStored(store, kind, stream.slice(kind.streamPrefix.length));
    texts.set(viewStreamOf(stream), JSON.stringify(view));
  }
  return texts;
}

/** Exactly the views of these streams are stored, as after a rebuild from zero, byte for byte. */
export async function expectRebuiltIsStored(store: EventStore, streams: readonly string[]): Promise<void> {
  expect(sorted(await storedViews(store))).toEqual(sorted(await rebuilt(store, streams)));
}

/** A store that fails an append of its choice, after it was carried out or instead. */
export function failing(
  store: EventStore,
  when: (stream: string) => 'before' | 'after' | undefined,
): EventStore {
  return {
    ...store,
    append: async (stream, events, expected) => {
      const failure = when(stream);
      if (failure === 'before') throw new StoreUnavailable('store_down', 'The store is down.');
      const answer = await store.append(stream, events, expected);
      if (failure === 'after') throw new StoreUnavailable('store_down', 'The answer is lost.');
      return answer;
    },
  };
}
