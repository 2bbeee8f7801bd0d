/**
 * A hosted page took 65 s after one 500 of the provider, and the customer was gone. No customer received the page of an attempt
 * without an outcome, so another one is requested at once.
 */
import { createFakeProvider } from '../testing/fake-provider.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type Harness,
  type Instance,
  accountNamed,
  answerMs,
  teaFor,
  times,
  answered,
} from '../testing/harness.ts';
import { useHarness } from '../testing/use-harness.ts';

const started = useHarness();
/** The provider's response time, milliseconds. */
const providerMs = 200;
let harness: Harness;
let other: ReturnType<typeof createFakeProvider>;
let instance: Instance;
let failedAt: number;

beforeEach(() => {
  harness = started();
  const { clock, provider } = harness;
  other = createFakeProvider(clock);
  other.beforeAnswerOf = () => clock.sleep(providerMs);
  const main = {
    ...provider.provider,
    async authorize(...call: Parameters<typeof provider.provider.authorize>) {
      const outcome = await provider.provider.authorize(...call);
      failedAt = clock.now();
      return outcome;
    },
  };
  const accounts = [accountNamed('main', main), accountNamed('other', other.provider, { priority: 1 })];
  instance = harness.startInstance({ accounts });
});

const create = async (by = instance) => {
  return answered(await harness.passTime(by.create(teaFor('order-1'))));
};

const failures = [
  { kind: 'lost-after' },
  { kind: 'lost-before' },
  { kind: 'hangs', deadlineMs: times.callDeadlineMs },
  { kind: 'not-sent' },
  { kind: 'refused', code: 'some_code', errorKind: 'authentication_error' },
] as const;

describe('a page is returned within 1.5 times the response time of a healthy account', () => {
  it.each(failures)('after a call that ended as %j', async (failure) => {
    harness.provider.faults.push(failure);
    const startedAt = harness.clock.now();
    const { payment } = await create();
    expect(payment).toMatchObject({ phase: 'init', attempt: { number: 2, account: 'other' } });
    expect(payment.processingUrl).toBe('https://pay.example/service-1');
    expect(harness.clock.now() - failedAt).toBeLessThanOrEqual(1.5 * providerMs);
    // An account that hangs has a third of the deadline while another one may return the page.
    expect(failedAt - startedAt).toBeLessThanOrEqual(times.callDeadlineMs / 3 + 50);
  });

  it('if two accounts fail in turn, and the third is the first again', async () => {
    harness.provider.faults.push({ kind: 'lost-before' });
    other.faults.push({ kind: 'lost-after' });
    expect((await create()).payment).toMatchObject({
      phase: 'init',
      attempt: { number: 3, account: 'main' },
    });
  });

  it('by the only account, if that is healthy again', async () => {
    const only = harness.startInstance();
    harness.provider.faults.push({ kind: 'lost-before' });
    const { payment } = await create(only);
    expect(payment).toMatchObject({ phase: 'init', attempt: { number: 2, account: 'main' } });
  });
});

it('an account that is paused, or whose circuit is open, is not tried', async () => {
  harness.provider.faults.push({ kind: 'lost-before' });
  await instance.openCircuit('other');
  expect((await create()).payment.attempt).toMatchObject({ number: 2, account: 'main' });
  expect(other.requests).toEqual([]);
});

describe('the first page', () => {
  it('found by an inquiry is returned, and no other one is requested', async () => {
    const token = await harness.lostPage('order-1', 'lost-after');
    await instance.inquire(token);
    const { payment } = await create();
    expect(payment).toMatchObject({ phase: 'init', attempt: { number: 1 } });
    expect(payment.processingUrl).toBe('https://pay.example/service-1');
    expect(other.requests).toEqual([]);
  });
});

// A late payment of 100 was attempted again at once, and was sent in addition to another one under a limit of 100 a day: its
// reservation had lapsed.
describe('no further attempt begins once no caller waits', () => {
  const suspendable = () => {
    const slept = { now: 0, monotonic: 0 };
    const { clock } = harness;
    const machine = {
      ...clock,
      now: () => clock.now() + slept.now,
      monotonic: () => clock.monotonic() + slept.monotonic,
    };
    return { machine, slept };
  };

  it.each([
    ['the wall clock', { now: answerMs, monotonic: 0 }],
    ['both clocks', { now: answerMs, monotonic: answerMs }],
  ])('by %s, after a suspension in the handshake', async (_, passed) => {
    const { machine, slept } = suspendable();
    const { provider } = harness.provider;
    provider.authorize = async (_request, maySend) => {
      Object.assign(slept, passed);
      expect(maySend()).toBe(false);
      return { kind: 'not-sent', reason: 'late' };
    };
    const { payment } = await create(harness.startInstance({ clock: machine }));
    expect(payment).toMatchObject({ phase: 'failed', attempt: { number: 1 } });
  });

  it('after a suspension before the permit of the next attempt', async () => {
    const { machine, slept } = suspendable();
    const late = harness.startInstance({ clock: machine });
    const { permitOf } = late.accounts;
    late.accounts.permitOf = async (...asked) => {
      Object.assign(slept, { now: answerMs });
      return permitOf(...asked);
    };
    harness.provider.faults.push({ kind: 'lost-before' });
    const { payment } = await create(late);
    expect(payment).toMatchObject({ phase: 'unresolved', attempt: { number: 1 } });
  });
});
