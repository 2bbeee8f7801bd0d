import { breakerFailuresMax, breakerOpenMs, silentLog } from '@tollgate/service-kit';
import type { InquiryOutcome } from '../provider.ts';
import { createFakeProvider } from '../testing/fake-provider.ts';
import { type FakeClock, createFakeClock } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { createAskAccount, inquiryPriorityOf, inquiryScheduleName } from './ask-account.ts';

const known = { environment: 'sandbox', account: 'main' } as const;
const another = { environment: 'sandbox', account: 'second' } as const;
const accepted: InquiryOutcome<string> = { kind: 'accepted', answer: 'yes' };

const causeBy = (actor: Parameters<typeof inquiryPriorityOf>[0]['actor']) => ({
  correlationId: 'c',
  causationId: 'c',
  actor,
});
const caller = causeBy({ kind: 'team', team: 'shop', keyId: 'k1' });
const callback = causeBy({ kind: 'service', name: 'command-service' });
const schedule = causeBy({ kind: 'service', name: inquiryScheduleName });

function start({
  concurrentMax = 4,
  perSecondMax = 10_000,
  clock = createFakeClock(),
}: { concurrentMax?: number; perSecondMax?: number; clock?: FakeClock } = {}) {
  const { provider } = createFakeProvider();
  const stopping = new AbortController();
  const accounts = {
    inquiriesOf: (_: string, name: string) =>
      name === 'gone'
        ? undefined
        : {
            provider,
            limits: {
              concurrentMax: () => concurrentMax,
              perSecondMax: () => perSecondMax,
            },
          },
  };
  const ask = createAskAccount({ accounts, stopping: stopping.signal, clock, log: silentLog });
  return { stopping, clock, ask };
}

/** Inquiries that hang until they are released, by name. */
function hanging() {
  const begun: string[] = [];
  const releases: (() => void)[] = [];
  const question = (name: string) => () =>
    new Promise<InquiryOutcome<string>>((resolve) => {
      begun.push(name);
      releases.push(() => resolve(accepted));
    });
  return { begun, releases, question };
}

const turns = async () => {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
};

it('the purpose of an inquiry follows from its cause', () => {
  expect([caller, callback, schedule].map(inquiryPriorityOf)).toEqual(['caller', 'callback', 'schedule']);
});

describe('an inquiry to an account', () => {
  // Eight places per process served all purposes in one queue: callers waited behind callbacks, and those behind the schedule.
  it('waits for its turn: callers, callbacks and the schedule take turns', async () => {
    const { ask } = start({ concurrentMax: 1 });
    const { begun, releases, question } = hanging();
    void ask(known, callback, question('first'));
    for (const [name, cause] of Object.entries({ schedule, callback, caller }))
      void ask(known, cause, question(name));
    for (let released = 0; released < 4; released += 1) {
      await turns();
      releases[released]?.();
    }
    await turns();
    expect(begun).toEqual(['first', 'callback', 'caller', 'schedule']);
  });

  // A team that repeated its captures took every inquiry of the account: callbacks of all teams waited.
  it('leaves callbacks and the schedule their share, however many callers there are', async () => {
    const { ask, clock } = start({ perSecondMax: 6, concurrentMax: 100 });
    const begun = { caller: 0, callback: 0, schedule: 0 };
    const question = (name: keyof typeof begun) => async () => {
      begun[name] += 1;
      return accepted;
    };
    for (let count = 0; count < 200; count += 1) {
      void ask(known, caller, question('caller'));
      void ask(known, schedule, question('schedule'));
    }
    for (let second = 0; second < 10; second += 1) {
      for (let count = 0; count < 20; count += 1) void ask(known, callback, question('callback'));
      await turns();
      await clock.advance(1_000);
    }
    expect(begun.caller).toBeGreaterThan(begun.callback);
    expect(begun.callback).toBeGreaterThan(15);
    expect(begun.schedule).toBeGreaterThan(7);
  });

  // The deferral of a callback whose inquiry was waiting made that inquiry stale: 784 inquiries for 500 callbacks.
  it('is skipped for a callback that has waited as long as its batch may', async () => {
    const { ask, clock } = start({ concurrentMax: 4 });
    const { begun, question } = hanging();
    const asked = ['1', '2', '3', '4'].map((name) => ask(known, callback, question(name)));
    await turns();
    await clock.advance(2_500);
    expect(begun).toEqual(['1', '2', '3']);
    expect(await asked[3]).toEqual({ kind: 'not-asked' });
  });

  it('is made for one team after the other', async () => {
    const { ask } = start({ concurrentMax: 1 });
    const { begun, releases, question } = hanging();
    const by = (team: string) => causeBy({ kind: 'team', team, keyId: 'k1' });
    for (const name of ['evil 1', 'evil 2', 'evil 3', 'shop 1'])
      void ask(known, by(name.slice(0, 4)), question(name));
    for (let released = 0; released < 4; released += 1) {
      await turns();
      releases[released]?.();
    }
    expect(begun).toEqual(['evil 1', 'evil 2', 'shop 1', 'evil 3']);
  });

  it('finds a place for a caller if callbacks and the schedule hang', async () => {
    const { ask } = start({ concurrentMax: 4 });
    const { begun, question } = hanging();
    for (let count = 0; count < 9; count += 1) void ask(known, schedule, question('schedule'));
    for (let count = 0; count < 9; count += 1) void ask(known, callback, question('callback'));
    void ask(known, caller, question('caller'));
    await turns();
    expect(begun).toEqual(['schedule', 'schedule', 'callback', 'caller']);
  });

  // Places were reserved for callers only: a team whose inquiries took long left none to the callbacks of all teams.
  it('finds a place for callbacks and the schedule if callers hang', async () => {
    const { ask } = start({ concurrentMax: 8 });
    const { begun, question } = hanging();
    for (let count = 0; count < 20; count += 1) void ask(known, caller, question('caller'));
    void ask(known, callback, question('callback'));
    void ask(known, schedule, question('schedule'));
    await turns();
    expect(begun.filter((name) => name === 'caller')).toHaveLength(6);
    expect(begun).toContain('callback');
    expect(begun).toContain('schedule');
  });

  // Inquiries had no rate limit: they used up the provider's quota, and calls that move money failed.
  it('is limited per second', async () => {
    const { ask, clock } = start({ perSecondMax: 5, concurrentMax: 100 });
    let begun = 0;
    const question = async () => {
      begun += 1;
      return accepted;
    };
    for (let count = 0; count < 12; count += 1) void ask(known, schedule, question);
    await turns();
    expect(begun).toBe(5);
    await clock.advance(1_000);
    expect(begun).toBe(10);
    await clock.advance(400);
    expect(begun).toBe(12);
  });

  // All accounts shared their places: one that hung left none to the others.
  it('is not held up by another account that hangs', async () => {
    const { ask } = start();
    const { question } = hanging();
    for (let count = 0; count < 100; count += 1) void ask(known, caller, question('hangs'));
    expect(await ask(another, callback, async () => accepted)).toEqual(accepted);
    expect(await ask({ ...known, environment: 'production' }, callback, async () => accepted)).toEqual(
      accepted,
    );
  });

  it('is rejected if too many wait, or when the process stops', async () => {
    const { ask, stopping } = start({ concurrentMax: 1 });
    const { begun, releases, question } = hanging();
    const asking = Array.from({ length: 2_002 }, () => ask(known, caller, question('caller')));
    expect(await asking[2_001]).toEqual({ kind: 'not-asked' });
    stopping.abort();
    expect(await asking[1]).toEqual({ kind: 'not-asked' });
    expect(await ask(another, caller, question('late'))).toEqual({ kind: 'not-asked' });
    releases.forEach((release) => release());
    expect(await asking[0]).toEqual(accepted);
    expect(begun).toEqual(['caller']);
  });

  it('reports an account that is not configured', async () => {
    const { ask } = start();
    expect(await ask({ ...known, account: 'gone' }, caller, async () => accepted)).toEqual({
      kind: 'account-missing',
    });
  });

  it('whose adapter throws has no answer, and frees its place', async () => {
    const { ask } = start();
    for (let count = 0; count < 6; count += 1)
      expect(await ask(known, caller, () => Promise.reject(new Error('broken')))).toMatchObject({
        kind: 'unknown',
      });
  });

  it('is rejected while the inquiries of the account keep failing, and admitted again by one probe', async () => {
    const { ask, clock } = start();
    let asked = 0;
    const outcome = { kind: 'unknown', reason: 'timeout' } as InquiryOutcome<string>;
    const question = async () => {
      asked += 1;
      return outcome;
    };
    for (let failures = 0; failures < breakerFailuresMax; failures += 1) await ask(known, schedule, question);
    expect(await ask(known, caller, question)).toEqual({ kind: 'not-asked' });
    expect([ask.mayAsk(known), ask.mayAsk(another), asked]).toEqual([false, true, breakerFailuresMax]);
    await clock.advance(breakerOpenMs);
    expect(ask.mayAsk(known)).toBe(true);
    expect(await ask(known, schedule, async () => accepted)).toEqual(accepted);
    expect(await ask(known, caller, async () => accepted)).toEqual(accepted);
  });
});
