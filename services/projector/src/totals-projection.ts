/**
 * Totals: what each payment and payout adds to the sums of its team, currency and day. What it has added so far is known
 * from its own events before this one, folded again where that is no longer remembered; so no sum depends on what a crash
 * has left behind. The document knows which events it has seen, so each is added once although batches come again.
 */
import { beginning, type EventStore, type RecordedEvent } from '@tollgate/event-store';
import {
  applyTotalsChanges,
  paymentKind,
  payoutKind,
  totalsCheckpointStreamOf,
  totalsViewSchema,
  totalsStreamOf,
  totalsVersions,
  totalsWrittenEventType,
  type ViewKind,
  type TotalsChange,
  type TotalsView,
} from '@tollgate/views';
import { TollgateError, type Ids } from '@tollgate/service-kit';
import { allOrThrow } from './all-or-throw.ts';
import { createCheckpoint } from './checkpoint.ts';
import { createContributions } from './contributions.ts';
import {
  createCheckpointing,
  createFailures,
  type Projection,
  type ProjectionOptions,
  type Reached,
} from './projection.ts';
import { createRecentlyUsed } from './recently-used.ts';

/** The kinds that are counted. */
export const totalsKinds: readonly ViewKind[] = [paymentKind, payoutKind];

/**
 * A stream that has failed stays out of the totals of this generation, even where the code can read it later: what came
 * after it is in the documents already, and nothing tells whether it is, too. A rebuild counts it.
 */
export function createTotalsProjection(options: ProjectionOptions): Projection {
  const { store, clock, ids, log, viewVersion } = options;
  const stream = totalsCheckpointStreamOf(viewVersion);
  const checkpoint = createCheckpoint({ store, ids, log, stream, viewSchemaVersions: totalsVersions });
  const checkpointing = createCheckpointing(checkpoint, clock);
  const contributions = createContributions(options);
  const totals = createTotalsStore(options);
  const failures = createFailures(log);
  let position = beginning;
  let isWhole = false;

  async function resume(): Promise<void> {
    contributions.forget();
    totals.forget();
    const last = await checkpoint.read();
    position = last.position;
    isWhole = position !== beginning && last.isPartial === undefined;
    failures.take(last.failedStreams);
  }

  async function project(batch: readonly RecordedEvent[], reached: Reached): Promise<void> {
    const becomesWhole = reached.isEnd && !isWhole;
    if (!becomesWhole && !checkpointing.isDue(batch, reached)) return;
    const changes = await changesOf(
      batch.filter(({ stream: name }) => isCounted(name) && !failures.has(name)),
    );
    const byView = Map.groupBy(changes, ({ key }) => totalsStreamOf(key, viewVersion));
    await allOrThrow([...byView].map(([name, ofOne]) => totals.apply(name, inOrder(ofOne))));
    isWhole ||= reached.isEnd;
    await checkpointing.write(reached, failures.list(), isWhole ? {} : { isPartial: true });
    position = reached.position;
  }

  async function changesOf(batch: readonly RecordedEvent[]): Promise<TotalsChange[]> {
    const byStream = Map.groupBy(batch, (event) => event.stream);
    const told = await allOrThrow([...byStream].map(([name, events]) => contributions.follow(name, events)));
    for (const { failure } of told) if (failure !== undefined) failures.mark(failure);
    return told.flatMap(({ changes }) => changes);
  }

  return { resume, project, position: () => position, failedStreams: failures.list };
}

const isCounted = (stream: string) => totalsKinds.some(({ streamPrefix }) => stream.startsWith(streamPrefix));

const inOrder = (changes: TotalsChange[]) =>
  changes.sort((one, other) => (one.last.position < other.last.position ? -1 : 1));

interface StoredTotals {
  view: TotalsView | undefined;
  revision: number | 'no-stream';
}

/** Other projectors that write the same document at the same time are met this often at most. */
const conflictsMax = 10;
/** Teams and currencies that are busy at a time, about. */
const cachedTotalsMax = 1_000;

/** The documents of totals in the store, the last used ones in memory. */
function createTotalsStore({ store, ids }: { store: EventStore; ids: Ids }) {
  const recent = createRecentlyUsed<StoredTotals>(cachedTotalsMax);

  async function load(stream: string): Promise<StoredTotals> {
    for await (const { data, revision } of store.read(stream, { direction: 'backwards', limit: 1 })) {
      // One of another version is added up again from the beginning, as the checkpoint is, too.
      const view = totalsViewSchema.safeParse(data);
      return { view: view.success ? view.data : undefined, revision };
    }
    return { view: undefined, revision: 'no-stream' };
  }

  async function apply(stream: string, changes: readonly TotalsChange[]): Promise<void> {
    let stored = recent.get(stream) ?? (await load(stream));
    for (let conflicts = 0; conflicts < conflictsMax; conflicts += 1) {
      const changed = applyTotalsChanges(stored.view, changes);
      if (changed === stored.view) return;
      const view = totalsViewSchema.parse(changed);
      // Before the first document, so that a crash in between cannot leave a stream that grows.
      if (stored.revision === 'no-stream') await store.keepLast(stream, 1);
      const event = { id: ids.uuid(), type: totalsWrittenEventType, data: view, metadata: {} };
      const answer = await store.append(stream, [event], stored.revision);
      if (answer.kind === 'appended') {
        recent.set(stream, { view, revision: answer.revision });
        return;
      }
      stored = await load(stream);
    }
    throw new TollgateError('view_contended', 'Other projectors keep writing the totals.', {
      retryable: true,
    });
  }

  return { apply, forget: recent.clear };
}
