import { TollgateError, silentLog, systemClock } from '@tollgate/service-kit';
import { expect, test } from 'vitest';
import { createFollower } from './follow.ts';

/** A clock that does not wait, and records the requested pauses. */
function recordingClock() {
  const pauses: number[] = [];
  const sleep = async (durationMs: number) => void pauses.push(durationMs);
  return { pauses, clock: { ...systemClock, sleep } };
}

const failure = new TollgateError('store_down', 'The store is down.', { retryable: true });

test('pauses grow from failure to failure up to the longest, and begin again once a pass has got on', async () => {
  const { pauses, clock } = recordingClock();
  const ending = new AbortController();
  let passes = 0;
  const follower = createFollower(
    { clock, log: silentLog, name: 'spec', longestPauseMs: 1_000 },
    async (_signal, gotOn) => {
      passes += 1;
      if (passes === 6) gotOn();
      if (passes === 8) ending.abort();
      else throw failure;
    },
  );
  await follower.run(ending.signal);
  expect(pauses).toEqual([200, 400, 800, 1_000, 1_000, 200, 400]);
});

test('pauses of several followers are spread', async () => {
  const { pauses, clock } = recordingClock();
  const ending = new AbortController();
  const ids = { fraction: () => 0 };
  const follower = createFollower({ clock, ids, log: silentLog, name: 'spec' }, async () => {
    if (pauses.length === 1) ending.abort();
    throw failure;
  });
  await follower.run(ending.signal);
  expect(pauses).toEqual([100]);
});

test('its health is that of the pass: advancing, failed with its code, or ended', async () => {
  const { clock } = recordingClock();
  const seen: object[] = [];
  const see = () => seen.push(follower.health());
  const ending = new AbortController();
  const log = { ...silentLog, error: see };
  let passes = 0;
  const follower = createFollower({ clock, log, name: 'spec' }, async (_signal, gotOn) => {
    passes += 1;
    if (passes === 2) throw failure;
    see();
    gotOn();
    see();
    if (passes === 3) ending.abort();
    else throw new Error('of no code');
  });
  expect(follower.health()).toEqual({ isAdvancing: false, failure: undefined });
  await follower.run(ending.signal);
  expect(seen).toEqual([
    { isAdvancing: false, failure: undefined },
    { isAdvancing: true, failure: undefined },
    { isAdvancing: false, failure: 'following_failed' },
    { isAdvancing: false, failure: 'store_down' },
    { isAdvancing: false, failure: 'store_down' },
    { isAdvancing: true, failure: undefined },
  ]);
  expect(follower.health()).toEqual({ isAdvancing: false, failure: undefined });
});

// While a broker was unavailable each of them logged an error every thirty seconds or more often.
test('a failure that repeats for the same reason is logged as an error once, until a pass makes progress', async () => {
  const { clock } = recordingClock();
  const ending = new AbortController();
  const logged: unknown[] = [];
  const log = { ...silentLog, error: ({ code }: { code?: string }) => void logged.push(code) };
  let passes = 0;
  const follower = createFollower({ clock, log, name: 'spec' }, async (_signal, gotOn) => {
    passes += 1;
    if (passes === 4) throw new Error('of no code');
    if (passes === 6) gotOn();
    if (passes === 8) ending.abort();
    throw failure;
  });
  await follower.run(ending.signal);
  expect(logged).toEqual(['store_down', 'following_failed', 'store_down', 'store_down']);
});

test('an error of a pass that was stopped is not a failure', async () => {
  const { pauses, clock } = recordingClock();
  const ending = new AbortController();
  const follower = createFollower({ clock, log: silentLog, name: 'spec' }, async (signal) => {
    ending.abort();
    signal.throwIfAborted();
  });
  await follower.run(ending.signal);
  expect(pauses).toEqual([]);
});
