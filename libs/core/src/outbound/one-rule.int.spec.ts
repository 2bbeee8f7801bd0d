/** The one rule for calling, for every operation that moves money. */
import type { MaySend } from '../provider.ts';
import { systemClock } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { allOperations, loseAnswers } from '../testing/operation-cases.ts';
import {
  type AppendEnd,
  diesAfterCall,
  diesAnnounced,
  failingStore,
  seesTooLate,
} from '../testing/failing-stores.ts';
import { type Harness, answerMs, quietMs, times } from '../testing/harness.ts';
import { useHarness } from '../testing/use-harness.ts';

const harness = useHarness();

describe.each(allOperations)('$name', (each) => {
  const { operation, prepare, ask, stateOf, attempts } = each;
  const isPage = attempts > 1;
  let token: string;
  beforeEach(async () => {
    token = await prepare(harness());
  });
  /** Calls of the operation that reached the provider. */
  const calls = () => harness().provider.received.filter((call) => call.operation === operation);

  it('is announced durably before it is sent', async () => {
    let seen: string | undefined;
    harness().provider.beforeAnswerOf = async () => {
      seen = (await harness().history(token)).at(-1);
    };
    expect(await ask(harness(), token)).toMatchObject({ kind: 'answered', replayed: false });
    expect(seen).toBe(each.announcement);
    expect(await stateOf(harness(), token)).toBe(each.whenDone);
  });

  it('is one call for any number of concurrent requests, over several processes', async () => {
    // Requests of other processes wait while the store works, so time must be the store's own.
    const instances = [1, 2, 3].map(() => harness().startInstance({ clock: systemClock }));
    const results = await Promise.all(
      instances.flatMap((instance) => Array.from({ length: 8 }, () => ask(instance, token))),
    );
    expect(calls()).toHaveLength(1);
    expect(results.map(({ kind }) => kind)).toEqual(results.map(() => 'answered'));
    expect(results.filter((result) => result.kind === 'answered' && !result.replayed)).toHaveLength(1);
  });

  // The connection is made meanwhile: a gateway suspended in the handshake sent a call that it had announced long ago.
  it.each([
    ['the wall clock', { now: times.sendWithinMs, monotonic: 0 }],
    ['the monotonic clock, after the wall clock was set back', { now: 0, monotonic: times.sendWithinMs }],
  ])('is not sent if its deadline passes by %s before the first byte leaves', async (_, passed) => {
    const { clock, provider } = harness();
    const isDue: boolean[] = [];
    const slept = { now: 0, monotonic: 0 };
    const instance = harness().startInstance({
      clock: {
        ...clock,
        now: () => clock.now() + slept.now,
        monotonic: () => clock.monotonic() + slept.monotonic,
      },
    });
    const send = provider.provider[operation] as (request: never, maySend: MaySend) => Promise<unknown>;
    Object.assign(provider.provider, {
      [operation]: async (request: never, maySend: MaySend) =>
        send(request, () => {
          if (isDue.length === 0) Object.assign(slept, passed);
          isDue.push(maySend());
          return isDue.at(-1) === true;
        }),
    });
    await harness().passTime(ask(instance, token));
    expect(isDue[0]).toBe(false);
    // A creation announces another attempt; other operations do not.
    expect(isDue.slice(1)).toEqual(operation === 'authorize' ? [true] : []);
  });

  it('whose answer is lost is answered as unknown, found by a repeat, and never sent again', async () => {
    loseAnswers(harness(), each, 'lost-after');
    // While inquiries fail, the outcome is unknown. Before a refund they succeeded, so the sum proves something.
    const { provider } = harness();
    provider.beforeAnswerOf = async () => void (provider.answersInquiries = false);
    expect(await harness().passTime(ask(harness(), token))).toMatchObject({ kind: 'answered' });
    expect(await stateOf(harness(), token)).toBe(each.whenUnknown);
    await harness().clock.advance(quietMs + 3_600_000);
    provider.answersInquiries = true;
    const again = await harness().passTime(ask(harness(), token));
    expect(again).toMatchObject({ kind: 'answered', replayed: true });
    if (await isInInit(harness(), token)) await harness().inquire(token);
    expect(await stateOf(harness(), token)).toBe(each.whenDone);
    expect(calls()).toHaveLength(attempts);
  });

  it('a failed inquiry does not prove absence', async () => {
    loseAnswers(harness(), each, 'lost-before');
    harness().provider.answersInquiries = false;
    await harness().passTime(ask(harness(), token));
    for (let hour = 0; hour < 5; hour += 1) {
      await harness().clock.advance(3_600_000);
      await harness().inquire(token);
      await harness().passTime(ask(harness(), token));
    }
    expect(await stateOf(harness(), token)).toBe(each.whenUnknown);
    expect(calls()).toHaveLength(attempts);
  });

  it('announced by a process that died before the call is never sent under that announcement', async () => {
    const dying = harness().startInstance({ wrapStore: diesAnnounced(), dies: true });
    void ask(dying, token);
    await eventually(async () => expect(await stateOf(harness(), token)).toBe(each.whenAnnounced));
    // The next process waits as long as it may still be answered, and then inquires.
    expect(await harness().passTime(ask(harness(), token))).toMatchObject({
      kind: 'answered',
      replayed: true,
    });
    expect(await stateOf(harness(), token)).toBe(isPage ? 'init' : each.whenUnknown);
    expect(calls().map(({ of }) => of)).toEqual(isPage ? [`${token}.2`] : []);
  });

  it('made by a process that died before recording the outcome is found by the next one', async () => {
    const dying = harness().startInstance({ wrapStore: diesAfterCall(), dies: true });
    void ask(dying, token);
    await eventually(() => expect(calls()).toHaveLength(1));
    await harness().clock.advance(answerMs);
    await harness().inquire(token);
    await harness().inquire(token);
    expect(await stateOf(harness(), token)).toBe(each.whenDone);
    expect(calls()).toHaveLength(1);
  });

  it.each<AppendEnd>(['refused', 'unconfirmed'])(
    'whose end the store has %s is an error to the caller, found by a repeat, and never sent again',
    async (end) => {
      const wrapStore = failingStore((nth) => (nth === 2 ? end : 'ends well'));
      const failing = harness().startInstance({ wrapStore });
      await expect(harness().passTime(ask(failing, token))).rejects.toMatchObject({ retryable: true });
      await harness().clock.advance(quietMs);
      expect(await harness().passTime(ask(failing, token))).toMatchObject({ kind: 'answered' });
      if (await isInInit(harness(), token)) await harness().inquire(token);
      expect(await stateOf(harness(), token)).toBe(each.whenDone);
      expect(calls()).toHaveLength(1);
    },
  );

  it.each<AppendEnd>(['refused', 'unconfirmed'])(
    'whose announcement the store has %s is not sent',
    async (end) => {
      const wrapStore = failingStore((nth) => (nth === 1 ? end : 'ends well'));
      const failing = harness().startInstance({ wrapStore });
      await expect(harness().passTime(ask(failing, token))).rejects.toMatchObject({ retryable: true });
      expect(calls()).toHaveLength(0);
    },
  );

  it('in which the adapter throws is inquired, and releases its permit', async () => {
    harness().provider.faultsOf[operation].push({ kind: 'breaks' });
    await expect(harness().passTime(ask(harness(), token))).rejects.toThrow('the adapter is broken');
    await harness().clock.advance(answerMs);
    await harness().inquire(token);
    expect(await stateOf(harness(), token)).toBe(isPage ? 'init' : each.whenUnknown);
  });

  it('is awaited by a repeat in the same process, which learns its outcome without an inquiry', async () => {
    let answer = (): void => undefined;
    harness().provider.beforeAnswerOf = () => new Promise((resolve) => (answer = resolve));
    const asking = ask(harness(), token);
    await eventually(() => expect(calls()).toHaveLength(1));
    const startedAt = harness().clock.now();
    const answered: unknown[] = [];
    void ask(harness(), token).then((result) => answered.push(result));
    // One turn of the event loop, so that the repeat gets as far as it can.
    await harness().payments.load(token);
    answer();
    await asking;
    await eventually(() => expect(answered).toMatchObject([{ kind: 'answered', replayed: true }]));
    expect(harness().clock.now()).toBe(startedAt);
  });

  it('is awaited by a repeat in another process, which holds no permit meanwhile', async () => {
    let answer = (): void => undefined;
    harness().provider.beforeAnswerOf = () => new Promise((resolve) => (answer = resolve));
    const asking = ask(harness().startInstance(), token);
    await eventually(() => expect(calls()).toHaveLength(1));
    const late = harness().startInstance({ wrapStore: seesTooLate(each.announcement) });
    const repeating = ask(late, token);
    await eventually(() => expect(harness().clock.sleeperCount()).toBe(1));
    expect(late.accounts.health()).toMatchObject([{ callsUnderWay: 0 }]);
    answer();
    expect(await asking).toMatchObject({ kind: 'answered', replayed: false });
    expect(await harness().passTime(repeating)).toMatchObject({ kind: 'answered', replayed: true });
    expect(calls()).toHaveLength(1);
  });

  it('is not begun while the account fails: nothing is recorded, nothing is sent', async () => {
    await harness().openCircuit();
    const { received } = harness().provider;
    const before = [received.length, await harness().history(token)];
    const result = await harness().passTime(ask(harness(), token));
    expect(result).toMatchObject({ kind: 'unavailable', retryAfterSeconds: expect.any(Number) });
    expect([received.length, await harness().history(token)]).toEqual(before);
  });
});

/** A card or recurring payment that was found is in `init` until it is retrieved. */
const isInInit = async ({ payments }: Harness, token: string): Promise<boolean> =>
  (await payments.load(token))?.payment.phase === 'init';
