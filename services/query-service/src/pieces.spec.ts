import type { ViewList } from '@tollgate/lists';
import { expect, it } from 'vitest';
import { type Paged, readInPieces } from './pieces.ts';

const share = { giveWay: () => undefined };
const rows = Array.from({ length: 12_000 }, (_, at) => at);

/** A list of which every n-th row matches. */
function listOf(every: number, length = 1) {
  const asked: { limit: number }[] = [];
  const list = ({ limit = 0, cursor }: Paged): ViewList<number> => {
    asked.push({ limit });
    const from = Number(cursor ?? 0);
    const seen = rows.slice(from, from + Math.max(limit, every > 1 ? 200 : 0));
    const views = seen.filter((row) => row % every === 0).slice(0, limit);
    const next = from + seen.length;
    const page = { kind: 'page' as const, views, visited: seen.length, length: views.length * length };
    return next < rows.length ? { ...page, nextCursor: String(next) } : page;
  };
  return { asked, list };
}

it('a page is the same as if it was read at once', async () => {
  const { asked, list } = listOf(1);
  const page = await readInPieces<number, Paged>(share, { perPage: 120 }, list);
  expect(page).toMatchObject({ views: rows.slice(0, 120), nextCursor: '120' });
  expect(asked.map(({ limit }) => limit)).toEqual([50, 50, 20]);
});

it('a request visits 5,000 rows at most, and has a cursor', async () => {
  const page = await readInPieces<number, Paged>(share, { perPage: 20 }, listOf(11_999).list);
  expect(page).toMatchObject({ views: [0], nextCursor: '5000', visited: 5_000 });
});
