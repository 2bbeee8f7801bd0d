import { silentLog } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import type { PermitResult } from './account.ts';
import { createAccounts } from './accounts.ts';
import { whileTimeIsKnown } from './known-time.ts';
import { permitWaitMs } from './permit-wait.ts';

function start() {
  const clock = createFakeClock();
  const limits = { weight: 1, priority: 0, concurrentCallsMax: 1, callsPerSecondMax: 1_000_000 };
  const account = { environment: 'sandbox' as const, name: 'one', provider: {} as never, ...limits };
  const all = createAccounts({ accounts: [account], clock, log: silentLog });
  const time = { isKnown: false, ...Promise.withResolvers<undefined>() };
  const accounts = whileTimeIsKnown(
    all,
    { isKnown: () => time.isKnown, nextComparison: () => time.promise },
    clock,
  );
  const asked: { result?: PermitResult } = {};
  const ask = async () => (asked.result = await accounts.permitOf('sandbox', 'one'));
  return { clock, time, all, ask, asked };
}

// A machine that had been asleep for 84 s announced a call whose window was over for everybody else: another process gave it
// up 0.7 s later and announced a further attempt, while the first was on its way (found by the simulation, seed 51).
describe('a permit of a process that may have slept', () => {
  it('waits until the clocks have been compared', async () => {
    const { time, ask, asked, all } = start();
    const asking = ask();
    await Promise.resolve();
    expect(asked.result).toBeUndefined();
    time.isKnown = true;
    time.resolve(undefined);
    expect((await asking).kind).toBe('permit');
    expect(all.health()[0]?.callsUnderWay).toBe(1);
  });

  it('is unavailable where they are not compared in time, and keeps no place', async () => {
    const { clock, ask, all } = start();
    const asking = ask();
    await clock.advance(permitWaitMs);
    expect(await asking).toEqual({ kind: 'unavailable', retryAfterSeconds: 1 });
    expect(all.health()[0]?.callsUnderWay).toBe(0);
  });

  it('is there at once where the time is known', async () => {
    const { time, ask } = start();
    time.isKnown = true;
    expect((await ask()).kind).toBe('permit');
  });
});
