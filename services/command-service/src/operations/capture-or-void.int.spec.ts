import { systemClock } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { caller, cause, quietMs, teaFor } from '../testing/harness.ts';
import { useHarness } from '../testing/use-harness.ts';
import { type EndCaptureOrVoidResult, endCaptureOrVoid } from './capture-or-void.ts';

const harness = useHarness();

const calls = () =>
  harness()
    .provider.received.filter(({ operation }) => operation === 'confirm' || operation === 'decline')
    .map(({ operation }) => operation);

const phaseOf = (result: EndCaptureOrVoidResult) =>
  result.kind === 'answered' ? result.view.payment.phase : result.kind;
const refused = (code: string) => ({ kind: 'refused', refusal: { code } });

async function withPage(orderNumber: string): Promise<string> {
  const result = await harness().create(teaFor(orderNumber, 100, { needConfirmation: true }));
  if (result.kind !== 'answered') throw new Error(result.kind);
  return result.view.token;
}

describe('confirming and declining at once, in two processes', () => {
  it('sends one of the two, and refuses the other', async () => {
    const token = await harness().held('order-1');
    const first = harness().startInstance({ clock: systemClock });
    const second = harness().startInstance({ clock: systemClock });
    const results = await Promise.all([first.end('confirm', token), second.end('decline', token)]);
    expect(calls()).toHaveLength(1);
    const answered = results.filter((result) => result.kind === 'answered');
    expect(answered).toHaveLength(1);
    const other = results.find((result) => result.kind === 'refused');
    expect(other).toMatchObject({
      refusal: { code: expect.stringMatching(/^(operation_in_progress|payment_in_final_state)$/) },
    });
  });

  it('refuses the other one also while the outcome of the first is unknown', async () => {
    const token = await harness().held('order-1');
    harness().provider.faultsOf.confirm.push({ kind: 'lost-before' });
    expect(phaseOf(await harness().end('confirm', token))).toBe('capturing');
    expect(await harness().end('decline', token)).toMatchObject(refused('operation_in_progress'));
    await harness().clock.advance(quietMs);
    await harness().inquire(token);
    expect(await harness().end('decline', token)).toMatchObject(refused('payment_in_final_state'));
    expect(calls()).toEqual(['confirm', 'confirm']);
  });
});

describe.each(['confirm', 'decline'] as const)('to %s', (operation) => {
  const done = operation === 'confirm' ? 'approved' : 'declined';

  it('twice is one call, and the second answer is the same', async () => {
    const token = await harness().held('order-1');
    expect(await harness().end(operation, token)).toMatchObject({ kind: 'answered', replayed: false });
    const again = await harness().end(operation, token);
    expect(again).toMatchObject({ kind: 'answered', replayed: true });
    expect(phaseOf(again)).toBe(done);
    expect(calls()).toEqual([operation]);
  });

  it('looks first where the customer may have paid and no callback has come', async () => {
    const token = await withPage('order-1');
    harness().provider.change(`${token}.1`, { status: 'pending', heldAmount: 100 });
    expect(phaseOf(await harness().end(operation, token))).toBe(done);
    expect(calls()).toEqual([operation]);
  });

  it('is refused without a call where nothing is held', async () => {
    const token = await withPage('order-1');
    expect(await harness().end(operation, token)).toMatchObject(refused('payment_not_confirmable'));
    harness().provider.change(`${token}.1`, { status: 'pending' });
    expect(await harness().end(operation, token)).toMatchObject(refused('payment_not_confirmable'));
    harness().provider.change(`${token}.1`, { status: 'expired' });
    expect(await harness().end(operation, token)).toMatchObject(refused('payment_in_final_state'));
    expect(calls()).toEqual([]);
  });

  it('is answered with what the payment is where the service refuses because it has ended', async () => {
    const token = await harness().held('order-1');
    harness().provider.change(`${token}.1`, { status: done, heldAmount: 0 });
    expect(phaseOf(await harness().end(operation, token))).toBe(done);
    const expiring = await harness().held('order-2');
    harness().provider.change(`${expiring}.1`, { status: 'expired', heldAmount: 0 });
    expect(phaseOf(await harness().end(operation, expiring))).toBe('expired');
    expect(calls()).toEqual([operation, operation]);
  });

  it('may be asked for again where the service had refused it', async () => {
    const token = await harness().held('order-1');
    harness().provider.faultsOf[operation].push({
      kind: 'refused',
      code: 'x',
      errorKind: 'processing_error',
    });
    expect(phaseOf(await harness().end(operation, token))).toBe('authorized');
    expect(phaseOf(await harness().end(operation, token))).toBe(done);
    expect(calls()).toEqual([operation, operation]);
  });

  // A permit was taken before the payment was asked what there is to do: a repeat was 503 while the account failed.
  it('is replayed or refused without a permit where nothing is to be sent', async () => {
    const token = await harness().held('order-1');
    const ended = await harness().held('order-2');
    await harness().end(operation, token);
    harness().provider.change(`${ended}.1`, { status: 'expired', heldAmount: 0 });
    await harness().inquire(ended);
    const without = harness().startInstance({ accounts: [] });
    for (let failures = 0; failures < 10; failures += 1) {
      const permit = await harness().accounts.permitOf('sandbox', 'main');
      if (permit.kind === 'permit') permit.permit.release('unknown');
    }
    for (const { end } of [harness(), without]) {
      expect(await end(operation, token)).toMatchObject({ kind: 'answered', replayed: true });
      expect(await end(operation, ended)).toMatchObject(refused('payment_in_final_state'));
    }
  });

  it.each([
    ['fails', () => Promise.reject(new Error('the store is gone'))],
    ['hangs', () => new Promise<never>(() => undefined)],
  ])('does not wait longer than a caller may for a look that %s', async (_name, inquire) => {
    const token = await withPage('order-1');
    const deps = { ...harness().inside, inquire };
    const ending = endCaptureOrVoid(deps, { caller, operation, token, cause });
    expect(await harness().passTime(ending)).toMatchObject(refused('payment_not_confirmable'));
    expect(harness().clock.monotonic()).toBeLessThan(6_000);
  });

  it("finds no payment of another team's", async () => {
    const token = await harness().held('order-1');
    const others = { ...caller, team: 'others' };
    expect(await harness().end(operation, token, others)).toMatchObject(refused('payment_not_found'));
    expect(await harness().end(operation, 'pay_unknown')).toMatchObject(refused('payment_not_found'));
    expect(calls()).toEqual([]);
  });
});

it('the payment that the answer names must be the one that is held', async () => {
  const token = await harness().held('order-1');
  const another = { token: 'another', status: 'approved', amount: 100, currency: 'EUR' };
  harness().provider.client.confirmPayment = () => Promise.resolve({ kind: 'accepted', answer: another });
  expect(phaseOf(await harness().end('confirm', token))).toBe('capturing');
});

it('an acceptance that shows no payment is not believed before a look has seen it', async () => {
  const token = await harness().held('order-1');
  const { confirmPayment } = harness().provider.client;
  harness().provider.client.confirmPayment = async (serviceToken) => {
    await confirmPayment(serviceToken);
    return { kind: 'accepted', answer: undefined };
  };
  const { retrieved } = harness().provider.inquiries;
  expect(phaseOf(await harness().end('confirm', token))).toBe('approved');
  expect(harness().provider.inquiries.retrieved).toBe(retrieved + 1);
});
