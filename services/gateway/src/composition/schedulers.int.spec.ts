import { whileAble } from '@tollgate/command-service';
import { createMembers } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemIds } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { expect, it, onTestFinished } from 'vitest';
import { inBackground } from './background.ts';

// A process whose clock was an hour ahead held its shards of the inquiry schedule, and inquired nothing of them.
it('leaves its part to the others while it is not able, and takes it back', async () => {
  const store = await temporaryStore();
  const clock = createFakeClock({ now: Date.now() });
  const able = { a: true, b: true };
  const [a, b] = (['a', 'b'] as const).map((member) => {
    const members = createMembers({ store, clock, ids: systemIds, log: silentLog, name: 'spec', member });
    onTestFinished(
      inBackground((signal) => whileAble({ isAble: () => able[member], clock }, signal, members.run)),
    );
    return members;
  });
  const seesOf = (count: number) =>
    expect
      .poll(async () => (await clock.advance(500), [a?.place().count, able.b ? b?.place().count : count]), {
        timeout: 10_000,
        interval: 2,
      })
      .toEqual([count, count]);
  await seesOf(2);
  able.b = false;
  await seesOf(1);
  able.b = true;
  await seesOf(2);
});
