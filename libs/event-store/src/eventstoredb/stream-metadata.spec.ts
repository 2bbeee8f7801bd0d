import { expect, it } from 'vitest';
import { isTrimDue } from './stream-metadata.ts';

const dueRevisions = (upTo: number, count = 1) =>
  Array.from({ length: Math.floor(upTo / count) }, (_, index) => (index + 1) * count - 1).filter((revision) =>
    isTrimDue(revision, count),
  );

// Each new view stream cost an append of metadata before its first version: one per payment.
it('a short stream is never trimmed, a long one at each power of two', () => {
  expect(dueRevisions(8)).toEqual([]);
  expect(dueRevisions(100)).toEqual([8, 16, 32, 64]);
});

it('the append that passes such a revision trims, at any end', () => {
  expect(dueRevisions(70, 3)).toEqual([8, 17, 32, 65]);
  expect(isTrimDue(999, 1_000)).toBe(true);
});
