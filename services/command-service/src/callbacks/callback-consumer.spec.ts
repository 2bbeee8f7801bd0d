import {
  encodeCallbackRecord,
  providerCallbacksDlqTopic,
  providerCallbacksTopic,
} from '@tollgate/gateway-api';
import type { BusRecord, MessageBus } from '@tollgate/message-bus';
import { InvariantViolation, TollgateError, silentLog } from '@tollgate/service-kit';
import { createFakeClock, createFakeIds } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import {
  type CallbackConsumerDependencies,
  type UnappliedCallback,
  consumeCallbacks,
} from './callback-consumer.ts';
import type { InquiryResult } from '../inquiries/inquiry-result.ts';

type Inquire = (token: string) => Promise<InquiryResult>;

function recordOf(token: string, body: object, offset: number): BusRecord {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const message = encodeCallbackRecord({ environment: 'sandbox', token, body: bytes, receivedAt: 0 });
  return { ...message, topic: providerCallbacksTopic, partition: 0, offset: String(offset) } as BusRecord;
}

/** Hands over one batch, and returns its result. */
function consume(
  bodies: Record<string, object>,
  { inquire, ...changes }: Partial<CallbackConsumerDependencies> & { inquire: Inquire },
) {
  const clock = createFakeClock();
  const deadLetter: string[] = [];
  const noted: UnappliedCallback[] = [];
  const batch = Object.entries(bodies).map(([token, body], index) => recordOf(token, body, index));
  const state: { batch: 'under way' | 'done' | Error; hasEnded: boolean } = {
    batch: 'under way',
    hasEnded: false,
  };
  const bus: Pick<MessageBus, 'publish' | 'subscribe'> = {
    publish: async (topic, messages) => {
      if (topic === providerCallbacksDlqTopic) deadLetter.push(...messages.map(({ key }) => key));
    },
    subscribe: async (_options, handle) => {
      await handle(batch).then(
        () => (state.batch = 'done'),
        (error: unknown) => (state.batch = error as Error),
      );
    },
  };
  const deps: CallbackConsumerDependencies = {
    ...{ bus: bus as MessageBus, clock, ids: createFakeIds(1), log: silentLog, inquire },
    inquireNamed: () => Promise.resolve('inquired'),
    recordRefundDeclined: () => Promise.resolve(),
    nudgeDisputes: () => undefined,
    recordUnapplied: async (unapplied) => void noted.push(unapplied),
    ...changes,
  };
  const ended = consumeCallbacks(deps, new AbortController().signal).then(() => (state.hasEnded = true));
  return { clock, deadLetter, noted, state, ended };
}

describe('a callback that cannot be applied', () => {
  const inquire: Inquire = () => Promise.resolve('failed');

  // A stream that nobody can decode rejected for ever: its whole partition stood still.
  it('and can never be noted either is dead-lettered', async () => {
    const run = consume(
      { pay_1: {} },
      { inquire, recordUnapplied: () => Promise.reject(new InvariantViolation('no')) },
    );
    await run.clock.advance(10_000);
    expect([run.state.batch, run.deadLetter]).toEqual(['done', ['pay_1']]);
  });

  it('and cannot be noted now comes again', async () => {
    const error = new TollgateError('store_unavailable', 'the disk is full', { retryable: true });
    const run = consume({ pay_1: {} }, { inquire, recordUnapplied: () => Promise.reject(error) });
    await run.clock.advance(10_000);
    expect([run.state.batch, run.deadLetter]).toEqual([error, []]);
  });

  it('is noted with what it names, and then dead-lettered', async () => {
    const run = consume({ pay_1: { type: 'payment', token: 'service-9' }, pay_2: {} }, { inquire });
    await run.clock.advance(10_000);
    expect(run.noted).toMatchObject([{ token: 'pay_1', serviceToken: 'service-9' }, { token: 'pay_2' }]);
    expect(run.noted[1]).not.toHaveProperty('serviceToken');
    expect(run.deadLetter).toEqual(['pay_1', 'pay_2']);
  });
});

describe('a batch', () => {
  // Each of an account's callbacks took four deadlines, one after the other, and all others waited for them.
  it('waits for the inquiries of an account that hangs for half a minute at most', async () => {
    let release = (): void => undefined;
    const hangs = new Promise<InquiryResult>((resolve) => (release = () => resolve('failed')));
    const run = consume(
      { pay_1: {}, pay_2: {} },
      { inquire: (token) => (token === 'pay_1' ? hangs : Promise.resolve('inquired')) },
    );
    await run.clock.advance(29_999);
    expect(run.state.batch).toBe('under way');
    await run.clock.advance(1);
    expect([run.state.batch, run.deadLetter]).toEqual(['done', ['pay_1']]);
    expect(run.noted).toMatchObject([{ token: 'pay_1' }]);
    // The inquiry continues, and the end waits for it.
    expect(run.state.hasEnded).toBe(false);
    release();
    await run.ended;
  });

  it('leaves nobody asleep where all is applied at once', async () => {
    const run = consume({ pay_1: {} }, { inquire: () => Promise.resolve('inquired') });
    await run.ended;
    expect([run.state.batch, run.clock.sleeperCount()]).toEqual(['done', 0]);
  });
});
