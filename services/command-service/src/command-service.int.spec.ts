import { readCallback } from '@tollgate/provider/callbacks';
import { type DueItem, inquiryDelays } from '@tollgate/core';
import { type MessageBus, createEmbeddedMessageBus } from '@tollgate/message-bus';
import { type TeamDirectory, createOperatorCredentials } from '@tollgate/teams';
import { Secret, silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import Fastify from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type CommandService,
  type CommandServiceDependencies,
  createCommandService,
} from './command-service.ts';
import { directoryOf } from './testing/app.ts';
import { patientTimes, payoutFor, useHarness } from '@tollgate/core/testing';
import { encodeCallbackRecord, providerCallbacksTopic } from '@tollgate/gateway-api';

const harness = useHarness();

const directory: TeamDirectory = directoryOf({
  authentication: { kind: 'refused', code: 'auth_header_not_found' },
});

const emptyIndex: CommandServiceDependencies['index'] = {
  dueQueues: () => [],
  dueItems: () => [],
  postpone: async () => undefined,
  readLedger: () => Promise.reject(new Error('no payouts in this spec')),
};

const depsWith = (changes: Partial<CommandServiceDependencies>): CommandServiceDependencies => ({
  installation: 'installation-1',
  store: harness().store,
  vault: harness().vault,
  accounts: harness().accounts,
  directory,
  times: patientTimes,
  fingerprintsOf: harness().fingerprintsOf,
  operators: createOperatorCredentials([{ kid: 'k1', secret: new Secret('o'.repeat(32)) }], {
    clock: systemClock,
    ids: systemIds,
  }),
  clock: systemClock,
  ids: systemIds,
  log: silentLog,
  readCallback,
  bus: createEmbeddedMessageBus({
    store: harness().store,
    clock: systemClock,
    ids: systemIds,
    holder: 'spec',
  }),
  callbackUrlOf: () => 'https://gateway.example/callbacks',
  runAlone: (_name, signal, work) => work(signal),
  findByServiceToken: () => undefined,
  index: emptyIndex,
  inquiryDelays,
  place: () => ({ rank: 0, count: 1 }),
  books: { find: () => undefined, findPayment: () => undefined, pagesOf: () => [] },
  reconciledAfterDays: [],
  reviewsByTwo: [],
  ...changes,
});

it('restarts the inquiry schedule and the callbacks after each has failed, and stops both', async () => {
  let passes = 0;
  let subscriptions = 0;
  const bus: MessageBus = {
    publish: () => Promise.resolve(),
    isConnected: () => true,
    close: () => Promise.resolve(),
    subscribe: () => Promise.reject(new Error(`subscription ${(subscriptions += 1)}`)),
  };
  const service = createCommandService(
    depsWith({
      bus,
      index: {
        ...emptyIndex,
        dueQueues: () => {
          throw new Error(`pass ${(passes += 1)}`);
        },
      },
    }),
  );
  await service.start();
  await eventually(() => expect([passes > 1, subscriptions > 1]).toEqual([true, true]));
  await service.stop();
});

describe('the parts together', () => {
  let running: { service: CommandService; bus: MessageBus } | undefined;
  afterEach(async () => {
    await running?.service.stop();
    await running?.bus.close();
    running = undefined;
  });

  function start(changes: Partial<CommandServiceDependencies> = {}): MessageBus {
    const deps = depsWith(changes);
    const service = createCommandService(deps);
    running = { service, bus: deps.bus };
    void service.start();
    return deps.bus;
  }

  async function callback(bus: MessageBus, token: string, body: object): Promise<void> {
    const bytes = new TextEncoder().encode(JSON.stringify(body));
    const record = encodeCallbackRecord({ environment: 'sandbox', token, body: bytes, receivedAt: 0 });
    await bus.publish(providerCallbacksTopic, [record]);
  }

  async function pendingPayout(): Promise<string> {
    harness().provider.payoutStatus = 'pending';
    const result = await harness().payOut(payoutFor('order-1'));
    if (result.kind !== 'answered') throw new Error(result.kind);
    return result.aggregate.token;
  }

  it('have a callback about a payment, a refund and a payout inquired', async () => {
    const { provider, payments, payouts } = harness();
    provider.refundStatus = 'pending';
    const token = await harness().approved('order-2');
    await harness().refund(token, 'a', 60);
    const refund = (await payments.load(token))?.payment.refunds[0];
    const payout = await pendingPayout();
    for (const each of provider.payouts.values()) each.status = 'approved';
    provider.change(`${token}.1`, { refundedAmount: 60 });
    const bus = start();
    await callback(bus, token, { type: 'refund', status: 'declined', token: refund?.serviceRefundToken });
    await callback(bus, payout, { type: 'payout', status: 'approved' });
    await eventually(async () => {
      expect((await payments.load(token))?.payment.refunds).toMatchObject([{ state: 'approved' }]);
      expect((await payouts.load(payout))?.payout.phase).toBe('approved');
    });
  });

  it('have the disputes read when a callback reports one', async () => {
    const token = await harness().approved('order-2');
    let readings = 0;
    const { listDisputes } = harness().provider.provider;
    harness().provider.provider.listDisputes = () => {
      readings += 1;
      return listDisputes();
    };
    const bus = start();
    await eventually(() => expect(readings).toBe(1));
    await callback(bus, token, { type: 'dispute', status: 'open' });
    await eventually(() => expect(readings).toBe(2));
  });

  it('inquire again about a callback that arrived before the answer, once the answer is recorded', async () => {
    const { provider, payments } = harness();
    let handled = 0;
    const { bus: real } = depsWith({});
    const bus = start({
      directory: directoryOf({}),
      bus: {
        ...real,
        subscribe: (options, handle) =>
          real.subscribe(options, async (batch) => {
            await handle(batch);
            handled += batch.length;
          }),
      },
    });
    const app = Fastify();
    running?.service.registerRoutes(app);
    let answer = (): void => undefined;
    provider.beforeAnswerOf = () => new Promise((resolve) => (answer = resolve));
    const payload = { product: 'Tea', amount: 1250, currency: 'EUR', orderNumber: 'order-1' };
    const asking = app.inject({ method: 'POST', url: '/api/v1/payments', payload });
    void asking.then(() => undefined);
    await eventually(() => expect(provider.requests).toHaveLength(1));
    const token = provider.requests[0]?.orderNumber?.split('.')[0] ?? '';
    provider.change(`${token}.1`, { status: 'approved' });
    await callback(bus, token, { status: 'approved' });
    await eventually(() => expect(handled).toBe(1));
    expect(provider.inquiries).toEqual({ retrieved: 0, listed: 0 });
    answer();
    expect((await asking).statusCode).toBe(200);
    await eventually(async () => expect((await payments.load(token))?.payment.phase).toBe('approved'));
  });

  it('follow up payments and payouts that are open', async () => {
    const token = await harness().authorized('order-2');
    const payout = await pendingPayout();
    harness().provider.change(`${token}.1`, { status: 'expired', authorizedAmount: 0 });
    for (const each of harness().provider.payouts.values()) each.status = 'declined';
    const due = {
      inquiryNeed: 'open',
      dueAt: Date.now() + 60_000,
      updatedAt: Date.now(),
      revision: 0,
    } as const;
    const items: DueItem[] = [
      { ...due, kind: 'payment', token },
      { ...due, kind: 'payout', token: payout },
    ];
    const queueOf = (kind: DueItem['kind']) =>
      ({
        kind,
        shard: 0,
        inquiryNeed: 'open',
        environment: 'sandbox',
        account: 'main',
        oldestDueAt: due.dueAt,
      }) as const;
    start({
      index: {
        ...emptyIndex,
        dueQueues: (shards) => (shards.includes(0) ? [queueOf('payment'), queueOf('payout')] : []),
        dueItems: ({ kind }) => items.filter((item) => item.kind === kind),
      },
    });
    await eventually(async () => {
      expect((await harness().payments.load(token))?.payment.phase).toBe('expired');
      expect((await harness().payouts.load(payout))?.payout.phase).toBe('declined');
    });
  });
});
