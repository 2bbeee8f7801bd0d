import { type CaughtUp, type EventStore, type RecordedEvent, beginning } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { silentLog } from '@tollgate/service-kit';
import { checkpointStream, firstViewVersion, paymentKind } from '@tollgate/views';
import { happening, requested } from '@tollgate/views/testing';
import { expect, it, onTestFinished } from 'vitest';
import { followViews } from './follow-views.ts';
import { openIndexFile } from './open-index-file.ts';
import { appendPayment, paymentViewStream, writeCheckpoint, writeView } from './testing/stored-payments.ts';

type Item = RecordedEvent | CaughtUp;

const { accepted, approved } = happening;

/** What a subscription has given that was never late: every view, and the checkpoints that count on them. */
async function recorded() {
  const store = await temporaryStore();
  const lastOf = async (stream: string): Promise<RecordedEvent> => {
    const [last] = await Array.fromAsync(store.read(stream, { direction: 'backwards', limit: 1 }));
    return last!;
  };
  const steps: { position: string; view: RecordedEvent; checkpoint: RecordedEvent }[] = [];
  for (const event of [requested(), accepted, approved]) {
    const { position } = await appendPayment(store, 'p1', [event]);
    await writeView(store, paymentKind, 'p1');
    const view = await lastOf(paymentViewStream('p1'));
    await writeCheckpoint(store, position);
    steps.push({ position, view, checkpoint: await lastOf(checkpointStream) });
  }
  return { store, steps: steps as [(typeof steps)[0], (typeof steps)[0], (typeof steps)[0]] };
}

/** Follows what is given, and tells after each step how far it has come, and of which event the payment is shown. */
async function follow(store: EventStore, given: readonly Item[], batchEventsMax?: number) {
  const file = openIndexFile(':memory:', silentLog);
  onTestFinished(() => file.close());
  const told: { source: string; revision: number | undefined; inFile: string }[] = [];
  await followViews({
    ...{ file, log: silentLog, viewVersion: firstViewVersion, signal: new AbortController().signal },
    batchEventsMax,
    store: {
      ...store,
      async *subscribe() {
        yield* given;
      },
    },
    onProgress: ({ source }) => {
      const revision = file.find(paymentKind, 'p1')?.revision;
      told.push({ source, revision, inFile: file.progress().source });
    },
  });
  return told;
}

const endAt = ({ position }: RecordedEvent, isGapless?: true): CaughtUp => ({
  ...{ kind: 'caught-up', position },
  ...(isGapless === undefined ? {} : { isGapless }),
});

// A process that had slept showed a payment as of its fourth event to who wanted its sixth: the view of the sixth had been hidden by
// that of the seventh, which came behind the checkpoint that counted on it (found by the simulation, seed 29090).
it('comes to no position before it has all views up to it, where one is left out for a later one', async () => {
  const { store, steps } = await recorded();
  const [first, second, third] = steps;
  const told = await follow(store, [
    ...[first.view, first.checkpoint, endAt(first.checkpoint)],
    // The view of the second event is not given any more.
    ...[second.checkpoint, third.view, endAt(third.view)],
  ]);
  expect(told).toEqual([
    { source: first.position, revision: 0, inFile: first.position },
    { source: second.position, revision: 2, inFile: second.position },
  ]);
});

it('comes to none before the end either where it writes more than once on the way', async () => {
  const { store, steps } = await recorded();
  const [first, second, third] = steps;
  const given = [first.view, first.checkpoint, endAt(first.checkpoint), second.checkpoint, third.view];
  const told = await follow(store, [...given, endAt(third.view)], 1);
  expect(told.map(({ source, revision }) => [source, revision])).toEqual([
    [beginning, 0],
    [beginning, 0],
    [first.position, 0],
    [first.position, 0],
    [first.position, 2],
    [second.position, 2],
  ]);
  expect(told.at(-1)?.inFile).toBe(second.position);
});

it('comes to a position with its checkpoint, without an end, where nothing is left out', async () => {
  const { store, steps } = await recorded();
  const [first, second, third] = steps;
  const told = await follow(store, [
    ...[first.view, first.checkpoint, endAt(first.checkpoint, true)],
    ...[second.view, second.checkpoint, third.view, third.checkpoint],
  ]);
  expect(told.map(({ source, revision }) => [source, revision])).toEqual([
    [first.position, 0],
    [second.position, 1],
    [third.position, 2],
  ]);
});

it('has come nowhere while it has not come to an end', async () => {
  const { store, steps } = await recorded();
  const [first, second] = steps;
  expect(await follow(store, [first.view, first.checkpoint, second.view, second.checkpoint])).toEqual([]);
});
