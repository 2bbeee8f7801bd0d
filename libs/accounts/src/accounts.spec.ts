import {
  breakerFailuresMax,
  breakerOpenMs,
  type Log,
  type LogFields,
  StartupError,
  silentLog,
} from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { type Account, type PermitEnd, type Permit, type PermitResult } from './account.ts';
import { createAccounts } from './accounts.ts';
import { permitWaitMs, waitingMax } from './permits.ts';

const providerOf = (name: string) => ({ name });
type Provider = ReturnType<typeof providerOf>;

const account = (name: string, changes: Partial<Account<Provider>> = {}): Account<Provider> => ({
  environment: 'sandbox',
  name,
  weight: 1,
  priority: 0,
  provider: providerOf(name),
  concurrentCallsMax: 10,
  callsPerSecondMax: 1_000_000,
  ...changes,
});
const wanted = { environment: 'sandbox', team: 'shop', currency: 'EUR', token: 'pay_1' } as const;

function start(configured: readonly Account<Provider>[], log: Log = silentLog) {
  const clock = createFakeClock();
  const accounts = createAccounts({ accounts: configured, clock, log });
  const healthOf = (name: string) => accounts.health().find((each) => each.account === name);

  /** Asks for a permit and returns the result so far. */
  function ask(name?: string, token = 'pay_1') {
    const asked: { result?: PermitResult<Provider> } = {};
    const asking =
      name === undefined
        ? accounts.permitAmong('sandbox', accounts.route({ ...wanted, token }))
        : accounts.permitOf('sandbox', name);
    void asking.then((result) => (asked.result = result));
    return asked;
  }
  async function permitOf(name: string): Promise<Permit<Provider>> {
    return permitIn(await accounts.permitOf('sandbox', name));
  }
  async function open(name: string): Promise<void> {
    for (let failed = 0; failed < breakerFailuresMax; failed += 1) (await permitOf(name)).release('unknown');
  }
  return { clock, accounts, healthOf, ask, permitOf, open };
}

function permitIn(result: PermitResult<Provider> | undefined): Permit<Provider> {
  if (result?.kind !== 'permit') throw new Error(`there is no permit but ${result?.kind ?? 'nothing yet'}`);
  return result.permit;
}
const nameIn = (asked: { result?: PermitResult<Provider> }) =>
  asked.result?.kind === 'permit' ? asked.result.permit.account : (asked.result?.kind ?? 'waits');
const unavailable = (retryAfterSeconds: number) => ({ kind: 'unavailable', retryAfterSeconds });

describe('a permit', () => {
  it('carries the name and the provider of its account', async () => {
    const one = account('one');
    const { permitOf } = start([one]);
    const permit = await permitOf('one');
    expect([permit.account, permit.environment]).toEqual(['one', 'sandbox']);
    expect(permit.provider).toBe(one.provider);
  });

  it('is issued by the account of that environment if two have the same name', async () => {
    const production = account('one', { environment: 'production', provider: providerOf('production') });
    const { accounts } = start([account('one'), production]);
    expect(permitIn(await accounts.permitOf('production', 'one')).provider).toBe(production.provider);
    expect(accounts.inquiriesOf('production', 'one')?.provider).toBe(production.provider);
    expect(accounts.inquiriesOf('sandbox', 'one')?.provider).not.toBe(production.provider);
  });

  it('returns its place once: a second release has no effect', async () => {
    const { permitOf, healthOf } = start([account('one')]);
    const [first] = [await permitOf('one'), await permitOf('one')];
    first.release('accepted');
    first.release('accepted');
    expect(healthOf('one')?.callsUnderWay).toBe(1);
  });

  it('counts once for the circuit breaker', async () => {
    const { permitOf, healthOf } = start([account('one')]);
    const permit = await permitOf('one');
    for (let again = 0; again < 2 * breakerFailuresMax; again += 1) permit.release('unknown');
    expect(healthOf('one')?.breaker).toBe('closed');
  });
});

describe('no account', () => {
  it.each([
    ['currency', { currency: 'USD' }],
    ['team', { team: 'desk' }],
    ['environment', { environment: 'production' as const }],
  ])('takes a creation of a %s', async (_name, changes) => {
    const { accounts } = start([account('one', { currencies: ['EUR'], teams: ['shop'] })]);
    expect(accounts.route(wanted)).toEqual(['one']);
    expect(accounts.route({ ...wanted, ...changes })).toEqual([]);
    expect(await accounts.permitAmong('sandbox', [])).toEqual({ kind: 'no-account' });
  });

  it('exists under a name that is no longer configured', async () => {
    const { accounts } = start([account('one')]);
    expect(await accounts.permitOf('sandbox', 'gone')).toEqual({ kind: 'no-account' });
    expect(await accounts.permitOf('production', 'one')).toEqual({ kind: 'no-account' });
    expect(accounts.inquiriesOf('sandbox', 'gone')).toBeUndefined();
  });

  it('continues with payments it has accepted, for any team and currency', async () => {
    const { permitOf } = start([account('one', { teams: [], currencies: [] })]);
    expect((await permitOf('one')).account).toBe('one');
  });
});

describe('the concurrency limit', () => {
  it('admits at most 10 of 1,000 concurrent callers, and serves all of them in turn', async () => {
    const { clock, ask, healthOf } = start([account('one')]);
    const asked = Array.from({ length: 1_000 }, () => ask('one'));
    const released = new Set<number>();
    while (released.size < asked.length) {
      await clock.advance(0);
      const out = asked.flatMap(({ result }, index) =>
        result?.kind === 'permit' && !released.has(index) ? [{ index, permit: result.permit }] : [],
      );
      expect(out.length).toBe(10);
      expect(healthOf('one')).toMatchObject({ callsUnderWay: 10, waiting: 990 - released.size });
      // First come, first served.
      expect(out.map(({ index }) => index)).toEqual(out.map((_, index) => released.size + index));
      for (const { index, permit } of out) {
        permit.release('accepted');
        released.add(index);
      }
    }
    expect(healthOf('one')).toMatchObject({ callsUnderWay: 0, waiting: 0 });
  });

  it('passes a place to the caller that waits, not to a newcomer', async () => {
    const { clock, ask, permitOf } = start([account('one', { concurrentCallsMax: 1 })]);
    const permit = await permitOf('one');
    const waiting = ask('one');
    permit.release('accepted');
    const late = ask('one');
    await clock.advance(0);
    expect([nameIn(waiting), nameIn(late)]).toEqual(['one', 'waits']);
  });

  it('rejects a caller after the maximum wait, and not earlier', async () => {
    const { clock, ask, permitOf, healthOf } = start([account('one', { concurrentCallsMax: 1 })]);
    const permit = await permitOf('one');
    const waiting = ask('one');
    await clock.advance(permitWaitMs - 1);
    expect(nameIn(waiting)).toBe('waits');
    await clock.advance(1);
    expect(waiting.result).toEqual(unavailable(1));
    permit.release('accepted');
    expect(healthOf('one')).toMatchObject({ callsUnderWay: 0, waiting: 0 });
  });

  it('limits the queue, and rejects the next caller at once', async () => {
    const { clock, ask, permitOf } = start([account('one', { concurrentCallsMax: 1 })]);
    await permitOf('one');
    const waiting = Array.from({ length: waitingMax }, () => ask('one'));
    const late = ask('one');
    await clock.advance(0);
    expect(late.result).toEqual(unavailable(1));
    expect(new Set(waiting.map(nameIn))).toEqual(new Set(['waits']));
  });
});

describe('the rate limit', () => {
  it("allows a burst of one second's worth, then the rate, in order of arrival", async () => {
    const limits = { callsPerSecondMax: 10, concurrentCallsMax: 1_000 };
    const { clock, ask, healthOf } = start([account('one', limits)]);
    const asked = Array.from({ length: 40 }, () => ask('one'));
    const served = () => asked.filter((each) => nameIn(each) === 'one').length;
    const servedOverTime: number[] = [];
    for (const waitMs of [0, 99, 1, 100, 800, 999, 1, 1_000]) {
      await clock.advance(waitMs);
      servedOverTime.push(served());
    }
    expect(servedOverTime).toEqual([10, 10, 11, 12, 20, 29, 30, 30]);
    expect(asked.map(nameIn)).toEqual([...Array(30).fill('one'), ...Array(10).fill('unavailable')]);
    expect(healthOf('one')?.waiting).toBe(0);
    expect(clock.sleeperCount()).toBe(0);
  });

  it('does not count unused permits', async () => {
    const { clock, ask, permitOf } = start([account('one', { callsPerSecondMax: 1 })]);
    (await permitOf('one')).release('unused');
    (await permitOf('one')).release('refused');
    const waiting = ask('one');
    await clock.advance(999);
    expect(nameIn(waiting)).toBe('waits');
    await clock.advance(1);
    expect(nameIn(waiting)).toBe('one');
  });

  it('gives a returned token to a waiting caller', async () => {
    const { clock, ask, permitOf } = start([account('one', { callsPerSecondMax: 1 })]);
    const permit = await permitOf('one');
    const waiting = ask('one');
    permit.release('unused');
    await clock.advance(0);
    expect(nameIn(waiting)).toBe('one');
  });

  it('gives a new token to the waiting caller, not to a newcomer', async () => {
    const { clock, ask, permitOf } = start([account('one', { callsPerSecondMax: 1 })]);
    await permitOf('one');
    const late: ReturnType<typeof ask>[] = [];
    // Comes when the token has arrived, and before the queue looks for it.
    void clock.sleep(1_001).then(() => late.push(ask('one')));
    await clock.advance(5);
    const waiting = ask('one');
    await clock.advance(1_000);
    expect([waiting, ...late].map(nameIn)).toEqual(['one', 'waits']);
  });

  it('applies even if a place becomes free before the token arrives', async () => {
    const limits = { callsPerSecondMax: 2, concurrentCallsMax: 2 };
    const { clock, ask, permitOf } = start([account('one', limits)]);
    const out = [await permitOf('one'), await permitOf('one')];
    const waiting = ask('one');
    await clock.advance(400);
    for (const permit of out) permit.release('accepted');
    await clock.advance(99);
    expect(nameIn(waiting)).toBe('waits');
    await clock.advance(1);
    expect(nameIn(waiting)).toBe('one');
  });
});

describe('an account whose circuit breaker is open', () => {
  it('rejects callers at once, with the time to retry', async () => {
    const { clock, accounts, open, healthOf } = start([account('one')]);
    await open('one');
    expect(healthOf('one')?.breaker).toBe('open');
    expect(await accounts.permitOf('sandbox', 'one')).toEqual(unavailable(5));
    await clock.advance(1);
    expect(await accounts.permitAmong('sandbox', accounts.route(wanted))).toEqual(unavailable(5));
    await clock.advance(breakerOpenMs - 2);
    expect(await accounts.permitOf('sandbox', 'one')).toEqual(unavailable(1));
    expect(clock.sleeperCount()).toBe(0);
  });

  it('admits one probe when its time has come, and rejects others until it has ended', async () => {
    const { clock, accounts, permitOf, open, healthOf } = start([account('one')]);
    await open('one');
    await clock.advance(breakerOpenMs);
    const probe = await permitOf('one');
    expect(await accounts.permitOf('sandbox', 'one')).toEqual(unavailable(1));
    expect(healthOf('one')).toMatchObject({ breaker: 'half-open', callsUnderWay: 1 });
    probe.release('accepted');
    expect(healthOf('one')?.breaker).toBe('closed');
    await Promise.all(Array.from({ length: 10 }, () => permitOf('one')));
  });

  it('is reported when it opens, with the duration, and when it closes', async () => {
    const lines: [string, LogFields, string][] = [];
    const note = (level: string) => (fields: LogFields, message: string) =>
      lines.push([level, fields, message]);
    const log = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
    const { clock, permitOf, open } = start([account('one')], log);
    await open('one');
    await clock.advance(breakerOpenMs);
    (await permitOf('one')).release('accepted');
    expect(lines).toEqual([
      [
        'warn',
        { account: 'one', waitMs: breakerOpenMs },
        'the circuit of a sandbox account is open: its calls fail',
      ],
      ['info', { account: 'one' }, 'the circuit of a sandbox account is closed: it answers again'],
    ]);
  });
});

describe('a creation', () => {
  const first = account('first', { concurrentCallsMax: 1 });
  const second = account('second', { priority: 1, concurrentCallsMax: 1 });

  it('uses the first account of its route that has a permit at once', async () => {
    const { clock, ask } = start([second, first]);
    const asked = [ask(), ask(), ask()];
    await clock.advance(0);
    expect(asked.map(nameIn)).toEqual(['first', 'second', 'waits']);
  });

  it('uses the next account while one is failing', async () => {
    const { clock, ask, open } = start([first, second]);
    await open('first');
    const asked = ask();
    await clock.advance(0);
    expect(nameIn(asked)).toBe('second');
  });

  it.each(['first', 'second'])(
    'waits for all accounts of its route and uses the first free one: %s',
    async (name) => {
      const { clock, ask, permitOf, healthOf } = start([first, second]);
      const permits = new Map([
        ['first', await permitOf('first')],
        ['second', await permitOf('second')],
      ]);
      const asked = ask();
      await clock.advance(100);
      expect([healthOf('first')?.waiting, healthOf('second')?.waiting]).toEqual([1, 1]);
      permits.get(name)?.release('accepted');
      await clock.advance(0);
      expect(nameIn(asked)).toBe(name);
      expect([healthOf('first')?.waiting, healthOf('second')?.waiting]).toEqual([0, 0]);
    },
  );

  it('gets one permit if two accounts become free at once', async () => {
    const { clock, ask, permitOf, healthOf } = start([first, second]);
    const permits = [await permitOf('first'), await permitOf('second')];
    ask();
    for (const permit of permits) permit.release('accepted');
    await clock.advance(0);
    expect([healthOf('first')?.callsUnderWay, healthOf('second')?.callsUnderWay]).toEqual([1, 0]);
  });

  it('keeps waiting for another account if one begins to fail', async () => {
    const { clock, ask, permitOf, healthOf } = start([first, second]);
    const other = await permitOf('second');
    await open9(permitOf);
    const last = await permitOf('first');
    const asked = ask();
    last.release('unknown');
    await clock.advance(0);
    expect([healthOf('first')?.breaker, nameIn(asked)]).toEqual(['open', 'waits']);
    other.release('accepted');
    await clock.advance(0);
    expect(nameIn(asked)).toBe('second');
  });

  it('is rejected if the only account that it waits for begins to fail', async () => {
    const { clock, ask, permitOf } = start([first]);
    await open9(permitOf);
    const last = await permitOf('first');
    const asked = [ask(), ask('first')];
    await clock.advance(0);
    expect(asked.map(nameIn)).toEqual(['waits', 'waits']);
    last.release('not-sent');
    await clock.advance(0);
    expect(asked.map(({ result }) => result)).toEqual([unavailable(5), unavailable(5)]);
  });

  async function open9(permitOf: (name: string) => Promise<Permit<Provider>>): Promise<void> {
    for (let failed = 1; failed < breakerFailuresMax; failed += 1)
      (await permitOf('first')).release('unknown');
  }

  it('gets the earliest retry time of all its accounts', async () => {
    const { clock, accounts, open } = start([first, second]);
    await open('first');
    await clock.advance(3_000);
    await open('second');
    expect(await accounts.permitAmong('sandbox', accounts.route(wanted))).toEqual(unavailable(2));
  });
});

describe('under random load', () => {
  const ends: PermitEnd[] = ['accepted', 'refused', 'not-sent', 'unknown', 'unused'];
  /** The accounts fail in the middle of the run, and at random otherwise. */
  const endAt = (step: number, drawn: number): PermitEnd =>
    step >= 100 && step < 150 ? 'unknown' : (ends[drawn] ?? 'unused');

  it('never exceeds a limit, answers every caller, and leaves nothing behind', async () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const limits = { concurrentCallsMax: 3, callsPerSecondMax: 20 };
      const { clock, ask, accounts } = start([
        account('one', limits),
        account('two', { ...limits, weight: 3 }),
      ]);
      let state = seed;
      const draw = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below;
      const asked: ReturnType<typeof ask>[] = [];
      const breakers = new Set<string>();
      for (let step = 0; step < 300; step += 1) {
        for (let count = draw(8); count > 0; count -= 1)
          asked.push(ask([undefined, 'one', 'two'][draw(3)], `pay_${step}`));
        await clock.advance(draw(120));
        for (const { result } of asked)
          if (result?.kind === 'permit' && draw(3) === 0) result.permit.release(endAt(step, draw(5)));
        for (const { callsUnderWay, breaker } of accounts.health()) {
          expect(callsUnderWay).toBeLessThanOrEqual(3);
          breakers.add(breaker);
        }
      }
      await clock.advance(permitWaitMs + 20);
      expect(asked.map(nameIn)).not.toContain('waits');
      for (const { result } of asked) if (result?.kind === 'permit') result.permit.release('unused');
      for (const each of accounts.health()) expect(each).toMatchObject({ callsUnderWay: 0, waiting: 0 });
      expect(clock.sleeperCount()).toBe(0);
      expect(new Set(asked.map(nameIn))).toEqual(new Set(['one', 'two', 'unavailable']));
      expect(breakers).toEqual(new Set(['closed', 'open', 'half-open']));
    }
  });
});

describe('createAccounts', () => {
  it.each([
    ['two accounts sandbox/one', [account('one'), account('one')]],
    ['weight of the account sandbox/one', [account('one', { weight: 0 })]],
    ['weight of the account sandbox/one', [account('one', { weight: 1.5 })]],
    ['concurrentCallsMax of the account sandbox/one', [account('one', { concurrentCallsMax: 0 })]],
    ['callsPerSecondMax of the account sandbox/one', [account('one', { callsPerSecondMax: Number.NaN })]],
    ['priority of the account sandbox/one', [account('one', { priority: Number.POSITIVE_INFINITY })]],
  ])('refuses %s', (message, accounts) => {
    const create = () => createAccounts({ accounts, clock: createFakeClock(), log: silentLog });
    expect(create).toThrow(StartupError);
    expect(create).toThrow(message);
  });

  it('lists all its accounts and their health', () => {
    const configured = [account('one'), account('one', { environment: 'production' })];
    const { accounts } = start(configured);
    expect(accounts.all()).toEqual(configured);
    const idle = { account: 'one', state: 'active', breaker: 'closed', callsUnderWay: 0, waiting: 0 };
    expect(accounts.health()).toEqual([
      { environment: 'sandbox', ...idle },
      { environment: 'production', ...idle },
    ]);
  });
});

describe('limits shared by several processes', () => {
  const startOf = (processes: { count: number }, changes: Partial<Account<Provider>>) => {
    const clock = createFakeClock();
    const accounts = createAccounts({
      accounts: [account('one', changes)],
      clock,
      log: silentLog,
      processes: () => processes.count,
    });
    async function take(count: number): Promise<number> {
      const asked = Array.from({ length: count }, () => accounts.permitOf('sandbox', 'one'));
      await clock.advance(permitWaitMs);
      return (await Promise.all(asked)).filter(({ kind }) => kind === 'permit').length;
    }
    return { clock, accounts, take };
  };

  it('give each process its share of the concurrency, and at least one', async () => {
    const processes = { count: 3 };
    const { take } = startOf(processes, { concurrentCallsMax: 10 });
    expect(await take(10)).toBe(3);
    processes.count = 2;
    expect(await take(10)).toBe(2);
    expect(await startOf({ count: 30 }, { concurrentCallsMax: 10 }).take(10)).toBe(1);
  });

  it('give each process its share of the rate', async () => {
    const { take } = startOf({ count: 4 }, { callsPerSecondMax: 40, concurrentCallsMax: 1_000 });
    // A bucket of ten, plus the tokens that arrive during the wait.
    expect(await take(1_000)).toBe(10 + (10 * permitWaitMs) / 1_000);
  });

  it('give inquiries their share', () => {
    const { accounts } = startOf({ count: 2 }, { concurrentInquiriesMax: 5, inquiriesPerSecondMax: 9 });
    const limits = accounts.inquiriesOf('sandbox', 'one')?.limits;
    expect([limits?.concurrentMax(), limits?.perSecondMax()]).toEqual([2, 4.5]);
  });
});
