/** How each operation treats a call that had no effect, as far as that can be known. */
import { eventually } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { type Harness, answerMs, quietMs } from '../testing/harness.ts';
import {
  type OperationCase,
  allOperations,
  operationCases,
  unrepeatableOperations,
} from '../testing/operation-cases.ts';
import { diesAnnounced } from '../testing/failing-stores.ts';
import { useHarness } from '../testing/use-harness.ts';

const harness = useHarness();

const ordersOf = ({ provider }: Harness, { operation }: OperationCase) =>
  provider.received.filter((call) => call.operation === operation).map(({ of }) => of);

const reviewsOf = async ({ payments, payouts }: Harness, token: string) =>
  ((await payments.load(token))?.payment ?? (await payouts.load(token))?.payout)?.reviews.map(
    ({ code }) => code,
  );

const historyAfter = async (each: OperationCase, at: Harness, token: string) => {
  const types = await at.history(token);
  return types.slice(types.indexOf(each.announcement));
};

/** Requests once; the sent call has no effect, and its outcome is unknown. */
async function loseBefore(each: OperationCase): Promise<string> {
  const token = await each.prepare(harness());
  harness().provider.faultsOf[each.operation].push({ kind: 'lost-before' });
  expect(await each.ask(harness(), token)).toMatchObject({ kind: 'answered' });
  expect(await each.stateOf(harness(), token)).toBe(each.whenUnknown);
  return token;
}

describe.each(unrepeatableOperations)('$name without effect', (each) => {
  it('is followed by one call at most, however many processes inquire at once', async () => {
    const token = await loseBefore(each);
    const instances = [1, 2, 3].map(() => harness().startInstance());
    for (const { inquire } of instances) await inquire(token);
    await harness().clock.advance(quietMs);
    await Promise.all(instances.flatMap(({ inquire }) => [inquire(token), inquire(token)]));
    const followed = each.operation === 'capture' || each.operation === 'void';
    expect(ordersOf(harness(), each)).toHaveLength(followed ? 2 : 1);
  });
});

// Its window was a year ahead, and until then every inquiry concluded "not yet": thirty days of inquiries without an end.
describe.each(unrepeatableOperations)('$name announced by a clock a year ahead', (each) => {
  const yearMs = 365 * 24 * 3_600_000;
  const startAhead = (dies: boolean) => {
    const { clock, startInstance } = harness();
    const ahead = { ...clock, now: () => clock.now() + yearMs };
    return startInstance({ clock: ahead, ...(dies ? { dies, wrapStore: diesAnnounced() } : {}) });
  };

  it('waits for the length of its window, counted from its first observation', async () => {
    const token = await each.prepare(harness());
    void each.ask(startAhead(true), token);
    await eventually(async () => expect(await each.stateOf(harness(), token)).toBe(each.whenAnnounced));
    await harness().clock.advance(60_000);
    await harness().inquire(token);
    await harness().clock.advance(answerMs - 1);
    await harness().inquire(token);
    expect(await each.stateOf(harness(), token)).toBe(each.whenAnnounced);
    await harness().clock.advance(1);
    await harness().inquire(token);
    expect(await each.stateOf(harness(), token)).toBe(each.whenUnknown);
    await harness().clock.advance(quietMs - answerMs);
    await harness().inquire(token);
    const isAskedAgain = each.operation === 'capture' || each.operation === 'void';
    if (isAskedAgain) expect(await each.stateOf(harness(), token)).toBe(each.whenDone);
    else expect(await reviewsOf(harness(), token)).toHaveLength(1);
  });

  // By these clocks the provider made it a year before the announcement: a person finds out that it is ours.
  it('and took effect is found, or is in review, and is never sent again', async () => {
    const token = await each.prepare(harness());
    harness().provider.faultsOf[each.operation].push({ kind: 'lost-after' });
    await each.ask(startAhead(false), token);
    await harness().inquire(token);
    await harness().clock.advance(quietMs);
    await harness().inquire(token);
    const isMadeByNumber = each.operation === 'authorize' || each.operation === 'payout';
    if (isMadeByNumber) expect(await reviewsOf(harness(), token)).not.toEqual([]);
    else expect(await each.stateOf(harness(), token)).toBe(each.whenDone);
    expect(ordersOf(harness(), each)).toHaveLength(1);
  });
});

it.each([operationCases.capture, operationCases.void])(
  '$name without effect at the end of its quiet period is submitted again, once',
  async (each) => {
    const token = await loseBefore(each);
    await harness().clock.advance(quietMs);
    expect(await each.ask(harness(), token)).toMatchObject({ kind: 'answered', replayed: true });
    expect(await each.stateOf(harness(), token)).toBe(each.whenDone);
    await harness().clock.advance(quietMs);
    await harness().inquire(token);
    expect(ordersOf(harness(), each)).toHaveLength(2);
    const submitted = each.announcement;
    const unresolved = submitted.replace('Submitted', 'Unresolved');
    const ended = each.operation === 'capture' ? 'PaymentApproved' : 'PaymentVoided';
    expect(await historyAfter(each, harness(), token)).toEqual([submitted, unresolved, submitted, ended]);
  },
);

it.each([
  { each: operationCases.byCard, code: 'attempt_not_found' },
  { each: operationCases.recurring, code: 'attempt_not_found' },
  { each: operationCases.refund, code: 'refund_unresolved' },
  { each: operationCases.payout, code: 'payout_not_found' },
])('$each.name absent after its quiet period opens a review, and is never sent again', async (row) => {
  const { each, code } = row;
  const token = await loseBefore(each);
  for (let inquiries = 0; inquiries < 4; inquiries += 1) {
    await harness().clock.advance(quietMs);
    await each.ask(harness(), token);
    await harness().inquire(token);
  }
  expect(await reviewsOf(harness(), token)).toEqual([code]);
  expect(await each.stateOf(harness(), token)).toBe(each.whenUnknown);
  expect(ordersOf(harness(), each)).toHaveLength(1);
});

// It was mistaken for ours by its number alone, and was `approved` without a charge.
it.each([
  ['was made before it was announced', { createdAt: 0 }],
  ['calls back elsewhere', { callbackUrl: 'https://staging.example/callbacks/sandbox/pay_1/k1.other' }],
])('a charge whose answer was lost is not a payment that %s', async (_, origin) => {
  const token = await loseBefore(operationCases.byCard);
  const { provider, clock, inquire, payments } = harness();
  const stranger = { serviceToken: 'stranger', status: 'approved', amount: 1250, currency: 'EUR' };
  const sums = { orderNumber: `${token}.1`, authorizedAmount: 0, refundedAmount: 0 };
  provider.payments.set('stranger', { ...stranger, ...sums, createdAt: clock.now(), ...origin });
  await clock.advance(quietMs);
  await inquire(token);
  expect((await payments.load(token))?.payment).toMatchObject({
    phase: 'unresolved',
    reviews: [{ code: 'attempt_not_found', evidence: { observedServiceToken: 'stranger' } }],
  });
  expect(harness().onDisk()).not.toContain('staging.example');
});

describe.each(allOperations)('$name that certainly had no effect', (each) => {
  const mayGoOn = each.operation === 'authorize';

  it('because it was refused is answered so, and not sent again by a repeat', async () => {
    const token = await each.prepare(harness());
    const refused = { kind: 'refused', code: 'a_code', errorKind: 'processing_error' } as const;
    harness().provider.faultsOf[each.operation].push(refused);
    expect(await each.ask(harness(), token)).toMatchObject({ kind: 'answered', replayed: false });
    const ends: Partial<Record<OperationCase['operation'], string>> = {
      refund: 'declined',
      capture: 'authorized',
      void: 'authorized',
    };
    expect(await each.stateOf(harness(), token)).toBe(ends[each.operation] ?? 'failed');
    expect(ordersOf(harness(), each)).toHaveLength(1);
    if (each.operation === 'capture' || each.operation === 'void') return;
    expect(await each.ask(harness(), token)).toMatchObject({ kind: 'answered', replayed: true });
    expect(ordersOf(harness(), each)).toHaveLength(1);
  });

  it(`because it was not sent ${mayGoOn ? 'is attempted again' : 'ends there'}`, async () => {
    const token = await each.prepare(harness());
    harness().provider.faultsOf[each.operation].push({ kind: 'not-sent' });
    const asking = harness().passTime(each.ask(harness(), token));
    expect(await asking).toMatchObject({ kind: 'answered', replayed: false });
    expect(ordersOf(harness(), each)).toEqual(mayGoOn ? [`${token}.2`] : []);
    const ends: Partial<Record<OperationCase['operation'], string>> = {
      refund: 'declined',
      payout: 'failed',
    };
    const captureOrVoid =
      each.operation === 'capture' || each.operation === 'void' ? 'authorized' : undefined;
    expect(await each.stateOf(harness(), token)).toBe(ends[each.operation] ?? captureOrVoid ?? each.whenDone);
  });
});

it('an inquiry about an announced call begins only when its answer is no longer awaited', async () => {
  const { provider, clock } = harness();
  const token = await operationCases.hosted.prepare(harness());
  let answer = (): void => undefined;
  provider.beforeAnswerOf = () => new Promise((resolve) => (answer = resolve));
  const { inquire: inquireAsOther } = harness().startInstance();
  const asking = operationCases.hosted.ask(harness(), token);
  await expect.poll(() => provider.received.length).toBe(1);
  expect(await inquireAsOther(token)).toBe('awaiting-answer');
  await clock.advance(answerMs);
  expect(await inquireAsOther(token)).toBe('inquired');
  answer();
  await asking;
  expect((await harness().payments.load(token))?.payment.reviews).toEqual([]);
});
