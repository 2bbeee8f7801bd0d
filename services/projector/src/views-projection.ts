/** Documents of one stream each: from the checkpoint on, batch by batch, documents first and the checkpoint after them. */
import { beginning, type EventStore, type RecordedEvent } from '@tollgate/event-store';
import {
  checkpointStreamOf,
  viewSchemaVersions,
  furthestShards,
  shardNumberOf,
  shardsMax,
  shardsOf,
  type ViewCheckpoint,
  type ViewVersion,
  type Shard,
} from '@tollgate/views';
import { createCheckpoint, peekCheckpoint } from './checkpoint.ts';
import { createViewWriter } from './view-writer.ts';
import {
  createCheckpointing,
  createFailures,
  type Projection,
  type ProjectionOptions,
  type Reached,
} from './projection.ts';

export interface ViewsProjectionOptions extends ProjectionOptions {
  /** Of the streams that it projects; it reads the events of all. */
  shard: Shard;
}

/** `resume` gives the streams that have failed another try: the code may be another one now. */
export function createViewsProjection(options: ViewsProjectionOptions): Projection {
  const { store, clock, ids, log, viewVersion, shard } = options;
  const stream = checkpointStreamOf(viewVersion, shard);
  const checkpoint = createCheckpoint({ store, ids, log, stream, viewSchemaVersions });
  const checkpointing = createCheckpointing(checkpoint, clock);
  const views = createViewWriter(options);
  const failures = createFailures(log);
  const isOwn = (name: string) => shard.count === 1 || shardNumberOf(name, shard.count) === shard.number;
  let position = beginning;

  async function resume(): Promise<void> {
    views.forget();
    const last = await furthest(store, viewVersion, await checkpoint.read());
    position = last.position;
    const failed = [];
    for (const each of last.failedStreams.filter((failedStream) => isOwn(failedStream.stream))) {
      const failure = await views.catchUp(each.stream);
      if (failure !== undefined) failed.push(failure.failed);
    }
    failures.take(failed);
  }

  async function project(batch: readonly RecordedEvent[], reached: Reached): Promise<void> {
    if (!checkpointing.isDue(batch, reached)) return;
    await writeViews(batch.filter((event) => isOwn(event.stream) && !failures.has(event.stream)));
    await checkpointing.write(reached, failures.list());
    position = reached.position;
  }

  /** Writes the documents at the same time, so that the store commits them together. */
  async function writeViews(batch: readonly RecordedEvent[]): Promise<void> {
    const byStream = Map.groupBy(batch, (event) => event.stream);
    const outcomes = await Promise.allSettled(
      [...byStream].map(([name, events]) => views.write(name, events)),
    );
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') throw outcome.reason as Error;
      if (outcome.value !== undefined) failures.mark(outcome.value);
    }
  }

  return { resume, project, position: () => position, failedStreams: failures.list };
}

/**
 * The shard's own checkpoint, or what all shards of another number of them say together, where that is more: so a
 * changed number of shards goes on where the one before has ended.
 */
async function furthest(
  store: EventStore,
  viewVersion: ViewVersion,
  own: ViewCheckpoint,
): Promise<ViewCheckpoint> {
  const together = await readProgress(store, viewVersion);
  return own.position >= together.position ? own : { ...own, ...together };
}

/** How far all documents of a generation have come, and which streams could not be projected. */
export async function readProgress(
  store: EventStore,
  viewVersion: ViewVersion,
): Promise<Pick<ViewCheckpoint, 'position' | 'failedStreams'>> {
  const counts = Array.from({ length: shardsMax }, (_, index) => index + 1);
  const found = new Map<string, ViewCheckpoint>();
  await Promise.all(
    counts.flatMap(shardsOf).map(async (shard) => {
      const stream = checkpointStreamOf(viewVersion, shard);
      const checkpoint = await peekCheckpoint(store, stream, viewSchemaVersions);
      if (checkpoint !== undefined) found.set(stream, checkpoint);
    }),
  );
  const together = furthestShards(
    (shard) => found.get(checkpointStreamOf(viewVersion, shard)),
    ({ position }) => position,
  );
  return {
    position: together.position,
    failedStreams: together.said.flatMap(({ failedStreams }) => failedStreams),
  };
}
