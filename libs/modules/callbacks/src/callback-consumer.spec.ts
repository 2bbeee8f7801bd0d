import { encodeCallbackRecord, providerCallbacksTopic } from '@tollgate/gateway-api';
import type { BusRecord, MessageBus } from '@tollgate/message-bus';
import { InvariantViolation, TollgateError, createLog, silentLog } from '@tollgate/service-kit';
import { createFakeClock, createFakeIds } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import {
  type CallbackConsumerDependencies,
  type DeferredCallback,
  consumeCallbacks,
} from './callback-consumer.ts';
import type { Cause, InquiryResult } from '@tollgate/core';
import { readCallback } from './testing/read-callback.ts';

type Inquire = CallbackConsumerDependencies['inquire'];

/** The header of every callback to our URL. */
const requestIdOf = (offset: number) => `req_0mwuo1pzr${String(offset).padStart(20, '0')}`;

function recordOf(token: string, body: object, offset: number): BusRecord {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const requestId = requestIdOf(offset);
  const message = encodeCallbackRecord({
    environment: 'sandbox',
    token,
    body: bytes,
    receivedAt: 0,
    requestId,
  });
  return { ...message, topic: providerCallbacksTopic, partition: 0, offset: String(offset) } as BusRecord;
}

/** Delivers one batch, and returns its result. */
function consume(
  bodies: Record<string, object>,
  { inquire, ...changes }: Partial<CallbackConsumerDependencies> & { inquire: Inquire },
) {
  const clock = createFakeClock();
  const deferred: DeferredCallback[] = [];
  const batch = Object.entries(bodies).map(([token, body], index) => recordOf(token, body, index));
  const state: { batch: 'under way' | 'done' | Error; hasEnded: boolean } = {
    batch: 'under way',
    hasEnded: false,
  };
  const bus: Pick<MessageBus, 'subscribe'> = {
    subscribe: async (_options, handle) => {
      await handle(batch).then(
        () => (state.batch = 'done'),
        (error: unknown) => (state.batch = error as Error),
      );
    },
  };
  const deps: CallbackConsumerDependencies = {
    bus,
    clock,
    ids: createFakeIds(1),
    log: silentLog,
    inquire,
    inquireNamed: () => Promise.resolve('inquired'),
    readCallback,
    nudgeDisputes: () => undefined,
    defer: async (callback) => void deferred.push(callback),
    ...changes,
  };
  const ended = consumeCallbacks(deps, new AbortController().signal).then(() => (state.hasEnded = true));
  return { clock, deferred, state, ended };
}

describe('a callback that cannot be applied', () => {
  const inquire: Inquire = () => Promise.resolve('failed');

  // The record of an undecodable stream was rejected repeatedly, and its whole partition stopped.
  it('and can never be recorded is skipped', async () => {
    const run = consume(
      { pay_1: {} },
      { inquire, defer: () => Promise.reject(new InvariantViolation('no')) },
    );
    await run.clock.advance(10_000);
    expect(run.state.batch).toBe('done');
  });

  it('and cannot be recorded now is delivered again', async () => {
    const error = new TollgateError('store_unavailable', 'the disk is full', { retryable: true });
    const run = consume({ pay_1: {} }, { inquire, defer: () => Promise.reject(error) });
    await run.clock.advance(10_000);
    expect(run.state.batch).toBe(error);
  });

  // It was inquired four times, with pauses.
  it('is deferred at once, with the token that it names', async () => {
    const refund = { type: 'refund', token: 'service-refund-1' };
    const named = { type: 'payment', token: 'service-9' };
    const run = consume({ pay_1: named, pay_2: {}, pay_3: refund }, { inquire });
    await run.ended;
    const callbacks = [{ token: 'pay_1', serviceToken: 'service-9' }, { token: 'pay_2' }, { token: 'pay_3' }];
    expect([run.state.batch, run.deferred]).toEqual(['done', callbacks]);
  });

  it('about an earlier attempt is deferred, even while the answer to a later one is awaited', async () => {
    const run = consume(
      { pay_1: { type: 'payment', token: 'service-9' } },
      {
        inquire: () => Promise.resolve('awaiting-answer'),
        inquireNamed: () => Promise.resolve('failed'),
      },
    );
    await run.ended;
    expect(run.deferred).toEqual([{ token: 'pay_1', serviceToken: 'service-9' }]);
  });
});

it('events and log lines of a callback carry its request id', async () => {
  const lines: object[] = [];
  const log = createLog('spec', 'info', { write: (line) => void lines.push(JSON.parse(line) as object) });
  const causes: string[] = [];
  const inquire = async (token: string, { correlationId }: Cause) => {
    causes.push(correlationId);
    if (token === 'pay_2') throw new Error('planted');
    return 'inquired' as const;
  };
  const run = consume({ pay_1: {}, pay_2: {} }, { inquire, log });
  await run.ended;
  expect(causes).toEqual([requestIdOf(0), requestIdOf(1)]);
  expect(lines).toMatchObject([{ msg: 'an inquiry failed', token: 'pay_2', requestId: requestIdOf(1) }]);
});

describe('a batch', () => {
  // Each callback of one account delayed all others by half a minute.
  it('waits at most three seconds for the inquiries of an account that hangs, and defers them', async () => {
    let release = (): void => undefined;
    const hangs = new Promise<InquiryResult>((resolve) => (release = () => resolve('failed')));
    const run = consume(
      { pay_1: {}, pay_2: {} },
      { inquire: (token) => (token === 'pay_1' ? hangs : Promise.resolve('inquired')) },
    );
    await run.clock.advance(2_999);
    expect(run.state.batch).toBe('under way');
    await run.clock.advance(1);
    expect([run.state.batch, run.deferred]).toEqual(['done', [{ token: 'pay_1' }]]);
    // The inquiry continues, and the end of the consumer waits for it.
    expect(run.state.hasEnded).toBe(false);
    release();
    await run.ended;
  });

  it('ends at once if everything is applied at once', async () => {
    const run = consume({ pay_1: {} }, { inquire: () => Promise.resolve('inquired') });
    await run.ended;
    expect([run.state.batch, run.clock.sleeperCount()]).toEqual(['done', 0]);
  });
});
