import { createMembers } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemIds, runWhile } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { expect, it, onTestFinished } from 'vitest';
import { inBackground } from './background.ts';

// A process whose clock was an hour ahead held its shards of the inquiry schedule, and inquired nothing.
it('releases its shards while its clock is untrusted, and takes them back', async () => {
  const store = await temporaryStore();
  const clock = createFakeClock({ now: Date.now() });
  const able = { a: true, b: true };
  const [a, b] = (['a', 'b'] as const).map((member) => {
    const self = { member, release: '0.1.0', reads: 1 };
    const members = createMembers({ store, clock, ids: systemIds, log: silentLog, self });
    const share = (signal: AbortSignal) => members.share('spec', signal);
    onTestFinished(inBackground((signal) => members.run(signal)));
    onTestFinished(inBackground((signal) => runWhile({ isAble: () => able[member], clock }, signal, share)));
    return members;
  });
  const seesOf = (count: number) =>
    expect
      .poll(
        async () => (
          await clock.advance(500),
          [a?.place('spec').count, able.b ? b?.place('spec').count : count]
        ),
        {
          timeout: 10_000,
          interval: 2,
        },
      )
      .toEqual([count, count]);
  await seesOf(2);
  able.b = false;
  await seesOf(1);
  able.b = true;
  await seesOf(2);
});
