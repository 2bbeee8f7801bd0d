import { breakerOpenMs, silentLog, systemIds } from '@tollgate/service-kit';
import { encodeCallbackRecord, providerCallbacksTopic } from '@tollgate/gateway-api';
import type { BusRecord, MessageBus } from '@tollgate/message-bus';
import { inquiryNeedOf, inquireNamed } from '@tollgate/core';
import {
  type FakeProvider,
  createFakeProvider,
  accountNamed,
  cause,
  teaFor,
  useHarness,
} from '@tollgate/core/testing';
import { eventually } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { consumeCallbacks } from './callback-consumer.ts';
import { readCallback } from './testing/read-callback.ts';

let sick: FakeProvider;
const harness = useHarness(() => {
  sick = createFakeProvider();
  const sickAccount = accountNamed('sick', sick.provider, { currencies: ['USD'] });
  return { mainAccount: { currencies: ['EUR'] }, moreAccounts: [sickAccount] };
});

/** More than the concurrent inquiries of an account. */
const ofSickAccount = 40;

/** Approved at the provider, which only a callback has reported. */
async function approvedAt(provider: FakeProvider, currency: string, count: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let each = 0; each < count; each += 1) {
    const created = await harness().create(teaFor(`${currency}-${each}`, 1_250, { currency }));
    if (created.kind !== 'answered') throw new Error(created.kind);
    const { token, payment } = created.aggregate;
    provider.change(payment.attempt.providerOrderNumber, { status: 'approved' });
    tokens.push(token);
  }
  return tokens;
}

/** Inquiries get no answer until this is released; then the waiting ones have timed out. */
function hang({ provider }: FakeProvider): () => void {
  const { inquirePayment } = provider;
  let release = (): void => undefined;
  const timedOut = new Promise<{ kind: 'unknown'; reason: string }>((resolve) => {
    release = () => resolve({ kind: 'unknown', reason: 'timeout' });
  });
  provider.inquirePayment = () => timedOut;
  return () => {
    provider.inquirePayment = inquirePayment;
    release();
  };
}

function batchOf(tokens: readonly string[]): BusRecord[] {
  const body = new TextEncoder().encode(JSON.stringify({ type: 'payment', status: 'approved' }));
  return tokens.map((token, offset) => ({
    ...encodeCallbackRecord({ environment: 'sandbox', token, body, receivedAt: 0 }),
    topic: providerCallbacksTopic,
    partition: 0,
    offset: String(offset),
    timestamp: 0,
  }));
}

/** Delivers the batches one after the other, as a partition does. */
function consume(batches: readonly BusRecord[][]) {
  const { payments, inquire, inside, clock } = harness();
  const state = { batchesDone: 0 };
  const bus: Pick<MessageBus, 'subscribe'> = {
    async subscribe(_options, handle) {
      for (const batch of batches) {
        await handle(batch);
        state.batchesDone += 1;
      }
    },
  };
  const deps = {
    bus,
    clock,
    ids: systemIds,
    log: silentLog,
    inquire,
    inquireNamed: (token: string, serviceToken: string) => inquireNamed(inside, token, serviceToken, cause),
    readCallback,
    nudgeDisputes: () => undefined,
    async defer({ token }: { token: string }) {
      await payments.execute(token, { type: 'DeferCallback', deferredAt: clock.now() }, cause);
    },
  };
  const ended = consumeCallbacks(deps, new AbortController().signal);
  return { state, ended };
}

const phasesOf = (tokens: readonly string[]) =>
  Promise.all(tokens.map(async (token) => (await harness().payments.load(token))?.payment.phase));
const historiesOf = (tokens: readonly string[]) =>
  Promise.all(tokens.map((token) => harness().history(token)));

// At twenty callbacks a second, with one in twenty of an account that hung, 4,399 of 6,000 waited after five minutes: each
// batch waited half a minute for its slowest callback.
it("an account that hangs defers its own callbacks, and delays no other account's", async () => {
  const ill = await approvedAt(sick, 'USD', ofSickAccount);
  const well = await approvedAt(harness().provider, 'EUR', 10);
  const release = hang(sick);
  const [first, next] = [well.slice(0, 5), well.slice(5)];
  const { state, ended } = consume([batchOf([...ill, ...first]), batchOf(next)]);

  // No time has passed: the callbacks of the other account did not wait.
  await eventually(async () => expect(await phasesOf(first)).toEqual(first.map(() => 'approved')));
  expect(state.batchesDone).toBe(0);
  await harness().clock.advance(3_000);
  await eventually(() => expect(state).toEqual({ batchesDone: 2 }));
  expect(await phasesOf(next)).toEqual(next.map(() => 'approved'));
  const deferred = ['PaymentRequested', 'AttemptAccepted', 'CallbackDeferred'];
  expect(await historiesOf(ill)).toEqual(ill.map(() => deferred));

  release();
  await ended;
  // Until the circuit of its inquiries admits a probe.
  await harness().clock.advance(breakerOpenMs);
  const schedule = { ...cause, actor: { kind: 'service', name: 'inquiry-schedule' } } as const;
  for (const token of ill) expect(await harness().inquiries.request(token, schedule)).toBe('inquired');
  expect(await historiesOf(ill)).toEqual(ill.map(() => [...deferred, 'PaymentApproved', 'CallbackInquired']));
  for (const token of ill) {
    const payment = (await harness().payments.load(token))?.payment;
    expect(payment && [inquiryNeedOf(payment), payment.reviews]).toEqual(['settled', []]);
  }
});
