/** Folds all views again from the events, and writes those that differ. The live projector continues meanwhile. */
import { type EventStore, StoreUnavailable, readLast } from '@tollgate/event-store';
import { InvariantViolation, isRetryable, type Ids, type Log } from '@tollgate/service-kit';
import { foldStream, kindOfStream, viewStreamOf, viewWrittenType } from '@tollgate/views';
import { eachStream } from './compare.ts';

export interface RebuildOptions {
  store: EventStore;
  ids: Ids;
  log: Log;
  /** Stops it; a repeated rebuild starts from zero. */
  signal: AbortSignal;
  onProgress?: (progress: { compared: number }) => void;
}

/** @throws StoreUnavailable; the signal's reason */
export async function rebuild(options: RebuildOptions) {
  const { log } = options;
  /** Their views could not be written: one of their events cannot be applied. */
  const failedStreams: string[] = [];
  const views = await eachStream(options, async (stream) => {
    try {
      await rebuildView(options, stream);
    } catch (error) {
      if (error instanceof StoreUnavailable || isRetryable(error)) throw error;
      log.error({ error, stream }, 'the view of a stream cannot be folded');
      failedStreams.push(stream);
    }
  });
  return { views, failedStreams };
}

async function rebuildView({ store, ids }: RebuildOptions, stream: string): Promise<void> {
  const kind = kindOfStream(stream);
  if (kind === undefined) throw new InvariantViolation('a stream without a view kind was rebuilt');
  // Before its events: the projector may write a later view meanwhile, and then this append conflicts.
  const last = await readLast(store, viewStreamOf(stream));
  const view = kind.schema.parse(await foldStream(store, kind, stream.slice(kind.streamPrefix.length)));
  if (JSON.stringify(last?.data) === JSON.stringify(view)) return;
  const event = { id: ids.uuid(), type: viewWrittenType, data: view, metadata: {} };
  await store.append(viewStreamOf(stream), [event], last?.revision ?? 'no-stream', { keepLast: 1 });
}
