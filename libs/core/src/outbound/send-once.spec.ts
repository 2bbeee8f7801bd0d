import type { CallOperation, CallOutcome } from '../domain/outbound-call/outbound-call.ts';
import type { MaySend, Provider } from '../provider.ts';
import { silentLog, startStopwatch } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import type { Asked } from './ask-account.ts';
import { type OutboundCall, createSender } from './send-once.ts';
import type { PermitEnd } from '@tollgate/accounts';

const quietPeriods = { observe: () => undefined };

const sendWithinMs = 5_000;
const announcedNow = () => ({ kind: 'done', aggregate: { token: 'pay_1' }, events: ['announced'] }) as const;

function permitOf(ageMs: () => number) {
  const ends: PermitEnd[] = [];
  const permit = {
    account: 'main',
    environment: 'sandbox' as const,
    provider: {} as Provider,
    ageMs,
    release: (end: PermitEnd) => {
      if (ends.length === 0) ends.push(end);
    },
    [Symbol.dispose]: () => permit.release('unused'),
  };
  return { permit, ends };
}

const senderBy = (clock: ReturnType<typeof createFakeClock>) =>
  createSender({
    clock,
    times: { sendWithinMs },
    stopping: new AbortController().signal,
    quietPeriods,
    log: silentLog,
  });

describe('an announced call', () => {
  const setUp = () => {
    const clock = createFakeClock();
    const sendBy = clock.now() + sendWithinMs;
    let sent = 0;
    const call = (announced: OutboundCall<object>['announced']): OutboundCall<object> => ({
      announced,
      operation: 'payout',
      window: { sendBy, answerBy: sendBy, quietUntil: sendBy },
      permit: permitOf(() => 0).permit,
      async send() {
        sent += 1;
        return { kind: 'accepted' };
      },
    });
    return { sender: senderBy(clock), call, sent: () => sent };
  };

  it('is made once', async () => {
    const { sender, call, sent } = setUp();
    const announced = announcedNow();
    expect(await sender.send(call(announced))).toEqual({ kind: 'accepted' });
    await expect(sender.send(call(announced))).rejects.toThrow('already made');
    expect(sent()).toBe(1);
  });

  it('is made only by the process that appended its announcement', async () => {
    const { sender, call, sent } = setUp();
    await expect(sender.send(call({ ...announcedNow(), events: [] }))).rejects.toThrow('not announced');
    expect(sent()).toBe(0);
  });
});

/** Sends a call after these delays since its permit and its window. */
async function sendAfter(
  passed: { wallMs: number; monotonicMs: number },
  { beforeFirstByte = { wallMs: 0 } } = {},
) {
  const clock = createFakeClock();
  const shift = { wallMs: 0 };
  const machine = { ...clock, now: () => clock.now() + shift.wallMs };
  const { permit, ends: released } = permitOf(startStopwatch(machine));
  const sendBy = clock.now() + sendWithinMs;
  shift.wallMs = passed.wallMs - passed.monotonicMs;
  await clock.advance(passed.monotonicMs);
  let sent = 0;
  await senderBy(machine).send({
    announced: announcedNow(),
    operation: 'capture',
    window: { sendBy, answerBy: sendBy + 2_000, quietUntil: sendBy + 2_000 },
    permit,
    async send(_: Provider, maySend: MaySend): Promise<CallOutcome<object>> {
      shift.wallMs += beforeFirstByte.wallMs;
      if (!maySend()) return { kind: 'not-sent', reason: 'late' };
      sent += 1;
      return { kind: 'accepted' };
    },
  });
  return { sent, released };
}

it('a call in time is sent, and its outcome counts for the account', async () => {
  expect(await sendAfter({ wallMs: 4_999, monotonicMs: 4_999 })).toEqual({ sent: 1, released: ['accepted'] });
});

// The monotonic clock of a suspended machine stands still: an announced call was sent 45 s after its announcement.
it.each([
  ['while it announced, with its wall clock set back', { wallMs: -3_600_000, monotonicMs: 600_000 }],
  ['while it announced', { wallMs: 45_000, monotonicMs: 0 }],
  ['in the handshake, with its wall clock set back', { wallMs: 44_000 - 3_600_000, monotonicMs: 0 }],
])('a machine that was suspended %s sends nothing', async (_, passed) => {
  expect(await sendAfter(passed)).toMatchObject({ sent: 0 });
});

// Ten calls that were late because of our own slowness opened the circuit of a healthy account.
it('a late call does not count for the account', async () => {
  const nothing = { sent: 0, released: ['unused'] };
  expect(await sendAfter({ wallMs: 5_000, monotonicMs: 0 })).toEqual(nothing);
  const beforeFirstByte = { wallMs: 5_000 };
  expect(await sendAfter({ wallMs: 0, monotonicMs: 0 }, { beforeFirstByte })).toEqual(nothing);
});

describe('a refusal', () => {
  const errors = [{ code: 'some_code_of_theirs', kind: 'processing_error' }];
  const refused: CallOutcome<object> = { kind: 'refused', errors };
  const tooMany: CallOutcome<object> = { kind: 'not-sent', reason: 'http 429', isAnswered: true };
  const isThere = { kind: 'accepted', answer: false } as const;
  const isAbsent = { kind: 'accepted', answer: true } as const;
  const noAnswer = { kind: 'unknown', reason: 'timeout' } as const;
  const notAsked = { kind: 'not-asked' } as const;

  /** The outcome of a call with this answer and these inquiries, and the number of inquiries made. */
  async function sendAnd(
    answer: CallOutcome<object>,
    shown: readonly (Asked<boolean> | Promise<Asked<boolean>>)[],
    {
      isInquired = true,
      isConfirmed = true,
      operation = 'payout',
    }: { isInquired?: boolean; isConfirmed?: boolean; operation?: CallOperation } = {},
  ) {
    const clock = createFakeClock();
    const sendBy = clock.now() + sendWithinMs;
    let inquiries = 0;
    const { permit, ends } = permitOf(() => 0);
    const sending = senderBy(clock).send({
      announced: announcedNow(),
      operation,
      window: { sendBy, answerBy: sendBy, quietUntil: sendBy },
      permit,
      send: async () => answer,
      hasNoEffect: isInquired ? async () => shown[inquiries++] ?? noAnswer : undefined,
      isConfirmed: () => isConfirmed,
    });
    for (let pauses = 0; pauses < 6; pauses += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(1_000);
    }
    const outcome = await sending;
    // Its kind counts for the circuit breaker.
    expect(ends).toEqual([outcome.kind]);
    return { kind: outcome.kind, inquiries, errors: 'errors' in outcome ? outcome.errors : undefined };
  }

  const kinds = ['authentication_error', 'invalid_request_error', 'processing_error', 'settings_error'];
  it.each<CallOutcome<object>>([
    ...kinds.map((kind) => ({ kind: 'refused' as const, errors: [{ code: 'some_code', kind }] })),
    tooMany,
  ])('may answer a second delivery, and stands only if an inquiry shows no effect: %j', async (answer) => {
    expect(await sendAnd(answer, [isAbsent])).toMatchObject({ kind: answer.kind, inquiries: 1 });
    for (const asked of [isThere, noAnswer, notAsked, { kind: 'missing' } as const])
      expect(await sendAnd(answer, [asked])).toMatchObject({ kind: 'unknown', inquiries: 1 });
  });

  it('is inquired three times at most if the inquiry itself is not sent', async () => {
    expect(await sendAnd(tooMany, [tooMany, tooMany, isAbsent])).toMatchObject({
      kind: 'not-sent',
      inquiries: 3,
    });
    expect(await sendAnd(tooMany, [tooMany, tooMany, tooMany, isAbsent])).toMatchObject({
      kind: 'unknown',
      inquiries: 3,
    });
  });

  it('waits five seconds for its inquiry', async () => {
    const silence = new Promise<never>(() => undefined);
    expect(await sendAnd(refused, [silence])).toMatchObject({ kind: 'unknown', inquiries: 1 });
  });

  it.each([
    ['an inquiry without an answer', noAnswer, 'payout', errors],
    ['an inquiry that was not made', notAsked, 'payout', errors],
    ['an inquiry that has shown an effect', isThere, 'payout', undefined],
    // The sum may not be visible yet.
    ['an inquiry that has shown no sum', isThere, 'refund', errors],
  ] as const)('after %s keeps its errors for a later inquiry: %j, %s', async (_, asked, operation, kept) => {
    expect((await sendAnd(refused, [asked], { operation })).errors).toEqual(kept);
  });

  it('of a page that another one follows, or of a capture or void, is not confirmed', async () => {
    for (const options of [{ isConfirmed: false }, { isInquired: false }])
      expect(await sendAnd(refused, [], options)).toMatchObject({ kind: 'refused', inquiries: 0 });
  });

  it.each<CallOutcome<object>>([
    { kind: 'accepted' },
    { kind: 'not-sent', reason: 'ECONNREFUSED' },
    { kind: 'unknown', reason: 'timeout' },
  ])('other outcomes are recorded as they are: %j', async (answer) => {
    expect(await sendAnd(answer, [])).toMatchObject({ kind: answer.kind, inquiries: 0 });
  });
});
