import { createFakeClock } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { type EventStore, type Position, beginning } from '../event-store.ts';
import { temporaryStore } from '../testing/index.ts';
import { lagSeconds } from './lag.ts';

const prefixes = ['payment-'];

async function append(store: EventStore, stream: string, id: number): Promise<Position> {
  const uuid = `00000000-0000-4000-8000-00000000000${id}`;
  const answer = await store.append(stream, [{ id: uuid, type: 'Happened', data: {}, metadata: {} }], 'any');
  if (answer.kind !== 'appended') throw new Error(answer.kind);
  return answer.position;
}

it('is 0 if every event is seen, or else the age of the first unseen one', async () => {
  const store = await temporaryStore();
  const clock = createFakeClock();
  const lagFrom = (from: Position) => lagSeconds({ store, clock }, { from, prefixes });
  expect(await lagFrom(beginning)).toBe(0);
  const seen = await append(store, 'payment-1', 1);
  await append(store, 'team-1', 2);
  expect(await lagFrom(seen)).toBe(0);
  const last = await append(store, 'payment-1', 3);
  await append(store, 'payment-2', 4);
  let recordedAt = 0;
  for await (const event of store.read('payment-1', { direction: 'backwards', limit: 1 }))
    ({ recordedAt } = event);
  const later = { ...clock, now: () => recordedAt + 7_500 };
  expect(await lagSeconds({ store, clock: later }, { from: seen, prefixes })).toBe(7.5);
  const earlier = { ...clock, now: () => recordedAt - 1 };
  expect(await lagSeconds({ store, clock: earlier }, { from: seen, prefixes })).toBe(0);
  expect(await lagSeconds({ store, clock: later }, { from: last, prefixes: ['payment-1'] })).toBe(0);
});

it('is unknown while the store is unavailable, and the query is aborted', async () => {
  const clock = createFakeClock();
  let given: AbortSignal | undefined;
  const store: Pick<EventStore, 'subscribe'> = {
    async *subscribe({ signal }) {
      given = signal;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  };
  const lag = lagSeconds({ store, clock }, { from: beginning, prefixes });
  await clock.advance(1_000);
  expect(await lag).toBeUndefined();
  expect(given?.aborted).toBe(true);
});
