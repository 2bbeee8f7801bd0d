import { systemClock } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { teaFor, caller, card, cause, answered } from '../testing/harness.ts';
import { useHarness } from '../testing/use-harness.ts';
import { type CaptureOrVoidResult, captureOrVoid } from './capture-or-void.ts';

const harness = useHarness();

const calls = () =>
  harness()
    .provider.received.filter(({ operation }) => operation === 'capture' || operation === 'void')
    .map(({ operation }) => operation);

const phaseOf = (result: CaptureOrVoidResult) =>
  result.kind === 'answered' ? result.aggregate.payment.phase : result.kind;
const refused = (code: string) => ({ kind: 'refused', refusal: { code } });

async function withPage(orderNumber: string): Promise<string> {
  return answered(await harness().create(teaFor(orderNumber, 100, { needConfirmation: true }))).token;
}

async function charge(orderNumber: string): Promise<string> {
  return answered(await harness().create(teaFor(orderNumber, 100, { needConfirmation: true, card }))).token;
}

describe('concurrent capture and void in two processes', () => {
  it('sends one of the two, and refuses the other', async () => {
    const token = await harness().authorized('order-1');
    const first = harness().startInstance({ clock: systemClock });
    const second = harness().startInstance({ clock: systemClock });
    const results = await Promise.all([first.end('capture', token), second.end('void', token)]);
    expect(calls()).toHaveLength(1);
    const answered = results.filter((result) => result.kind === 'answered');
    expect(answered).toHaveLength(1);
    const other = results.find((result) => result.kind === 'refused');
    expect(other).toMatchObject({
      refusal: { code: expect.stringMatching(/^(operation_in_progress|payment_in_final_state)$/) },
    });
  });
});

describe.each(['capture', 'void'] as const)('to %s', (operation) => {
  const done = operation === 'capture' ? 'approved' : 'voided';

  it('inquires first if the customer may have paid and no callback has arrived', async () => {
    const token = await withPage('order-1');
    harness().provider.change(`${token}.1`, { status: 'pending', authorizedAmount: 100 });
    expect(phaseOf(await harness().end(operation, token))).toBe(done);
    expect(calls()).toEqual([operation]);
  });

  // A team with a 202 was refused as not confirmable while the money was authorized, and took that as the end (simulation,
  // seed 113).
  it('inquires first if the outcome of the creation is unknown, and does not refuse while it stays unknown', async () => {
    harness().provider.faultsOf.authorize.push({ kind: 'lost-after' }, { kind: 'lost-before' });
    const charged = await charge('order-1');
    harness().provider.change(`${charged}.1`, { status: 'pending', authorizedAmount: 100 });
    expect(phaseOf(await harness().end(operation, charged))).toBe(done);
    const nowhere = await charge('order-2');
    expect(await harness().end(operation, nowhere)).toMatchObject(refused('operation_in_progress'));
    expect(calls()).toEqual([operation]);
  });

  it('is answered with the current payment if the provider refuses because it has ended', async () => {
    const token = await harness().authorized('order-1');
    const status = operation === 'capture' ? 'approved' : 'declined';
    harness().provider.change(`${token}.1`, { status, authorizedAmount: 0 });
    expect(phaseOf(await harness().end(operation, token))).toBe(done);
    const expiring = await harness().authorized('order-2');
    harness().provider.change(`${expiring}.1`, { status: 'expired', authorizedAmount: 0 });
    expect(phaseOf(await harness().end(operation, expiring))).toBe('expired');
    expect(calls()).toEqual([operation, operation]);
  });

  // A permit was taken before the payment was read: a replay was 503 while the account failed.
  it('is replayed or refused without a permit if nothing is to be sent', async () => {
    const token = await harness().authorized('order-1');
    const ended = await harness().authorized('order-2');
    await harness().end(operation, token);
    harness().provider.change(`${ended}.1`, { status: 'expired', authorizedAmount: 0 });
    await harness().inquire(ended);
    const without = harness().startInstance({ accounts: [] });
    await harness().openCircuit();
    for (const { end } of [harness(), without]) {
      expect(await end(operation, token)).toMatchObject({ kind: 'answered', replayed: true });
      expect(await end(operation, ended)).toMatchObject(refused('payment_in_final_state'));
    }
  });

  it.each([
    ['fails', () => Promise.reject(new Error('the store is gone'))],
    ['hangs', () => new Promise<never>(() => undefined)],
  ])('waits at most as long as a caller may for an inquiry that %s', async (_name, inquire) => {
    const token = await withPage('order-1');
    const deps = { ...harness().inside, inquire };
    const ending = captureOrVoid(deps, { caller, operation, token, cause });
    expect(await harness().passTime(ending)).toEqual({ kind: 'unavailable', retryAfterSeconds: 2 });
    expect(harness().clock.monotonic()).toBeLessThan(6_000);
  });

  // A burst of callbacks kept inquiries waiting: a team's capture was refused permanently while the money was authorized.
  it("is not refused if the provider could not be inquired about the customer's payment", async () => {
    const token = await withPage('order-1');
    harness().provider.change(`${token}.1`, { status: 'pending', authorizedAmount: 100 });
    harness().provider.answersInquiries = false;
    const unavailable = await harness().passTime(harness().end(operation, token));
    expect(unavailable).toEqual({ kind: 'unavailable', retryAfterSeconds: 2 });
    expect(calls()).toEqual([]);
    harness().provider.answersInquiries = true;
    expect(phaseOf(await harness().end(operation, token))).toBe(done);
  });

  it('does not find a payment of another team', async () => {
    const token = await harness().authorized('order-1');
    const others = { ...caller, team: 'others' };
    expect(await harness().end(operation, token, others)).toMatchObject(refused('payment_not_found'));
    expect(await harness().end(operation, 'pay_unknown')).toMatchObject(refused('payment_not_found'));
    expect(calls()).toEqual([]);
  });
});

it('an acceptance without a payment must be confirmed by an inquiry', async () => {
  const token = await harness().authorized('order-1');
  const { capture } = harness().provider.provider;
  harness().provider.provider.capture = async (serviceToken, maySend) => {
    await capture(serviceToken, maySend);
    return { kind: 'accepted', answer: undefined };
  };
  const { retrieved } = harness().provider.inquiries;
  expect(phaseOf(await harness().end('capture', token))).toBe('approved');
  expect(harness().provider.inquiries.retrieved).toBe(retrieved + 1);
});
