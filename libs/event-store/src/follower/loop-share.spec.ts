import { expect, test } from 'vitest';
import { createLoopShare } from './loop-share.ts';

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** A share of the loop under a clock that moves on while somebody works, and only then. */
function givenShare() {
  let now = 0;
  const done: string[] = [];
  const share = createLoopShare({ monotonic: () => now });
  const work = (who: string, takesMs: number): void => {
    now += takesMs;
    done.push(who);
  };
  const follow = async (who: string, { pieces, takesMs }: { pieces: number; takesMs: number }) => {
    for (let piece = 0; piece < pieces; piece += 1) {
      await share.giveWay();
      work(who, takesMs);
    }
  };
  /** Requests that come in one turn of the loop after another. */
  const serve = async ({ turns, takesMs }: { turns: number; takesMs: number }) => {
    for (let turn = 0; turn < turns; turn += 1) {
      await nextTurn();
      work('request', takesMs);
    }
  };
  return { share, follow, serve, work, done: () => done.join(' ') };
}

// A batch of 500 events was followed in one go, and every request waited for all of it.
test('a follower lets requests go first after 2 ms of its work', async () => {
  const { follow, serve, done } = givenShare();
  await Promise.all([serve({ turns: 3, takesMs: 1 }), follow('follower', { pieces: 6, takesMs: 1 })]);
  expect(done()).toBe('follower follower request follower follower request follower follower request');
});

test('several followers have these 2 ms together, and take turns', async () => {
  const { follow, serve, done } = givenShare();
  await Promise.all([
    serve({ turns: 12, takesMs: 1 }),
    ...['one', 'two', 'three'].map((who) => follow(who, { pieces: 9, takesMs: 1 })),
  ]);
  const turns = done().split('request');
  // A piece is asked for before that of another is done.
  for (const turn of turns) expect(turn.trim().split(' ').length).toBeLessThanOrEqual(4);
  const soFar = turns.slice(0, 7).join(' ').split(' ');
  for (const who of ['one', 'two', 'three'])
    expect(soFar.filter((each) => each === who).length).toBeGreaterThanOrEqual(4);
});

test('where requests need longer themselves, followers work as long as they: they fall no further behind', async () => {
  const { follow, serve, done } = givenShare();
  await Promise.all([serve({ turns: 2, takesMs: 4 }), follow('follower', { pieces: 6, takesMs: 1 })]);
  expect(done()).toBe('follower follower request follower follower follower follower request');
});

test('a stop of the process gives them 20 ms and no more', async () => {
  const { share, work } = givenShare();
  work('follower', 0);
  await share.giveWay();
  work('follower', 2);
  const turn = share.giveWay();
  work('stop', 60_000);
  await turn;
  work('follower', 19);
  expect(share.giveWay()).toBeUndefined();
  work('follower', 1);
  expect(share.giveWay()).toBeInstanceOf(Promise);
});

test('what was done in one turn of the loop says nothing about the next', async () => {
  const { share, work } = givenShare();
  expect(share.giveWay()).toBeUndefined();
  work('follower', 1.9);
  await nextTurn();
  work('request', 10);
  expect(share.giveWay()).toBeUndefined();
});
