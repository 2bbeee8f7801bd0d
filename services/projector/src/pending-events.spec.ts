import { beginning, type Position, type RecordedEvent } from '@tollgate/event-store';
import { expect, it } from 'vitest';
import { createPendingEvents } from './pending-events.ts';

const at = (number: number) => String(number).padStart(4, '0') as Position;

/** Events by their streams, one position after another; `a` is a stream, its first event has revision 0. */
function given(holdMs = 100) {
  let now = 0;
  let last = 0;
  const revisions = new Map<string, number>();
  const pending = createPendingEvents({ clock: { monotonic: () => now }, holdMs, from: beginning });
  const add = (streams: string, metadata: object = {}) => {
    for (const stream of streams) {
      const revision = (revisions.get(stream) ?? -1) + 1;
      revisions.set(stream, revision);
      pending.add({ stream, revision, position: at((last += 1)), metadata } as RecordedEvent);
    }
  };
  const take = () => {
    const { events, position, areAll } = pending.take(at(last));
    return [events.map(({ stream, revision }) => `${stream}${revision}`).join(' '), position, areAll];
  };
  return { pending, add, take, pass: (ms: number) => (now += ms) };
}

// Each payment was written twice: when its call was announced, and when it was answered some milliseconds later.
it('a stream that has just begun is held until its next event', () => {
  const { add, take } = given();
  add('aab');
  expect(take()).toEqual(['a0 a1', at(2), false]);
  add('b');
  expect(take()).toEqual(['b0 b1', at(4), true]);
});

// An approved payment was shown without its recurring token, and a revised one without its review: the view was written between
// two events of one append.
it.each([100, 0])('a stream is held within an append, and not for longer than a moment (%d)', (holdMs) => {
  const { add, take, pass } = given(holdMs);
  add('aa');
  add('a', { continues: true });
  add('bb');
  expect(take()).toEqual(['b0 b1', beginning, false]);
  add('a');
  expect(take()).toEqual(['a0 a1 a2 a3', at(6), true]);
  add('a', { continues: true });
  pass(249);
  expect(take()).toEqual(['', at(6), false]);
  pass(1);
  expect(take()).toEqual(['a4', at(7), true]);
});

it('nothing is certain beyond what is held, and never less than before', () => {
  const { add, take } = given();
  add('a');
  expect(take()).toEqual(['', beginning, false]);
  add('bb');
  expect(take()).toEqual(['b0 b1', beginning, false]);
  add('cad');
  expect(take()).toEqual(['a0 a1', at(1), false]);
  add('c');
  expect(take()).toEqual(['c0 c1', at(4), false]);
  add('d');
  expect(take()).toEqual(['d0 d1', at(8), true]);
  add('e');
  expect(take()).toEqual(['', at(8), false]);
});

it('none is held for longer than a moment', () => {
  const { pending, add, take, pass } = given();
  add('a');
  pass(60);
  add('b');
  expect(pending.waitMs()).toBe(40);
  pass(40);
  expect(take()).toEqual(['a0', at(1), false]);
  expect(pending.waitMs()).toBe(60);
  pass(60);
  expect(take()).toEqual(['b0', at(2), true]);
  expect(pending.waitMs()).toBeUndefined();
});

it('a rebuild holds nothing', () => {
  const { add, take } = given(0);
  add('ab');
  expect(take()).toEqual(['a0 b0', at(2), true]);
});

it('a batch is due when its first event has waited long enough', () => {
  const { pending, add, take, pass } = given();
  add('aa');
  pass(199);
  add('a');
  expect(pending.isDue()).toBe(false);
  pass(1);
  add('a');
  expect(pending.isDue()).toBe(true);
  take();
  expect(pending.isDue()).toBe(false);
});

// Where nothing was to be held, every pause of the feed ended a batch: a rebuild wrote twenty times as many as it needed.
it('nothing is waited for where nothing is held', () => {
  const { pending, add, take } = given(0);
  add('ab');
  expect(pending.waitMs()).toBeUndefined();
  expect(take()).toEqual(['a0 b0', at(2), true]);
});
