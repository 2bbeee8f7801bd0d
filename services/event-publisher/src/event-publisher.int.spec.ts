import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EventStore, StoreUnavailable, createEmbeddedEventStore } from '@tollgate/event-store';
import { decodePaymentRecord, gatewayPaymentsTopic } from '@tollgate/gateway-events';
import type { BusRecord, Message, MessageBus } from '@tollgate/message-bus';
import { type PaymentEvent, paymentStream } from '@tollgate/payment-domain';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { publishEvents } from './event-publisher.ts';

let directory: string;
let store: EventStore;
let bus: MemoryBus;
const running: { stop: () => Promise<void> }[] = [];

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-publisher-'));
  store = await createEmbeddedEventStore({ file: join(directory, 'events.db') });
  bus = createMemoryBus();
});
afterEach(async () => {
  for (const { stop } of running.splice(0)) await stop();
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

interface MemoryBus extends Pick<MessageBus, 'publish' | 'lastPerPartition' | 'partitionOf'> {
  records: BusRecord[];
  /** The next publish writes so many of its messages, and fails. */
  failAfter: number | undefined;
}

function createMemoryBus(partitions = 3): MemoryBus {
  const partitionOf = (key: string) => Buffer.from(key).reduce((sum, byte) => sum + byte, 0) % partitions;
  const memory: MemoryBus = {
    records: [],
    failAfter: undefined,
    async publish(topic: string, messages: readonly Message[]) {
      const { failAfter } = memory;
      memory.failAfter = undefined;
      for (const message of messages.slice(0, failAfter)) {
        const partition = partitionOf(message.key);
        const offset = String(memory.records.length);
        memory.records.push({ ...message, topic, partition, offset, timestamp: 0 });
      }
      if (failAfter !== undefined) throw new Error('the bus is gone');
    },
    async lastPerPartition() {
      const last = new Map(memory.records.map((record) => [record.partition, record]));
      return [...last.values()];
    },
    partitionOf: async (_topic, key) => partitionOf(key),
  };
  return memory;
}

function start(): { stop: () => Promise<void> } {
  const stopping = new AbortController();
  const work = publishEvents(
    { store, bus, clock: systemClock, ids: systemIds, log: silentLog },
    stopping.signal,
  );
  const publisher = {
    async stop() {
      stopping.abort();
      await work;
    },
  };
  running.push(publisher);
  return publisher;
}

const metadata = {
  ...{ schemaVersion: 1, correlationId: 'c', causationId: 'c', recordedAt: 1_900_000_000_000 },
  actor: { kind: 'team', team: 'demo', keyId: 'key-that-stays-with-us' },
};

function historyOf(token: string): PaymentEvent[] {
  const attempt = { number: 1, account: 'account-that-stays-with-us', providerOrderNumber: `${token}.1` };
  return [
    {
      type: 'PaymentRequested',
      data: {
        ...{ environment: 'sandbox', team: 'demo', fingerprint: 'fingerprint-that-stays-with-us' },
        terms: {
          ...{ kind: 'hosted', product: 'Tea', amount: 1250, currency: 'EUR', needConfirmation: false },
          callbackUrl: 'https://team.example/secret-path',
          customer: { email: 'customer@example.com' },
        },
        attempt: { ...attempt, sendBy: 1, answerBy: 2, quietUntil: 3 },
      },
    },
    {
      type: 'AttemptAccepted',
      data: {
        ...{ attemptNumber: 1, serviceToken: 'service-token-that-stays-with-us', evidence: 'answer' },
        processingUrl: 'https://pay.example/secret-page',
      },
    },
    { type: 'PaymentPending', data: {} },
    { type: 'PaymentApproved', data: { amount: 1250 } },
  ];
}

async function record(token: string, from = 0, to = 4): Promise<void> {
  for (const [revision, { type, data }] of historyOf(token).entries()) {
    if (revision < from || revision >= to) continue;
    const event = { id: systemIds.uuid(), type, data, metadata };
    const answer = await store.append(
      paymentStream(token),
      [event],
      revision === 0 ? 'no-stream' : revision - 1,
    );
    if (answer.kind === 'conflict') throw new Error('conflict');
  }
}

const tokens = Array.from({ length: 12 }, (_, index) => `pay_${index}`);

async function expectEachOnceInOrder(): Promise<void> {
  await eventually(() => expect(bus.records.length).toBeGreaterThanOrEqual(tokens.length * 4));
  expect(bus.records).toHaveLength(tokens.length * 4);
  for (const token of tokens) {
    const mine = bus.records.filter(({ key }) => key === token);
    expect(mine.map(({ headers }) => headers['ce_sequence'])).toEqual(['0', '1', '2', '3']);
  }
}

it('publishes every event once, in the order of its payment', async () => {
  start();
  await Promise.all(tokens.map((token) => record(token)));
  await expectEachOnceInOrder();
  expect(new Set(bus.records.map(({ topic }) => topic))).toEqual(new Set([gatewayPaymentsTopic]));
});

it.each([0, 1, 5, 17])(
  'goes on after a send that failed with %i of its messages written',
  async (failAfter) => {
    await Promise.all(tokens.map((token) => record(token)));
    bus.failAfter = failAfter;
    start();
    await expectEachOnceInOrder();
  },
);

it('goes on after it was stopped at any event', async () => {
  for (const token of tokens) {
    const publisher = start();
    await record(token, 0, 2);
    await publisher.stop();
    await record(token, 2);
  }
  start();
  await expectEachOnceInOrder();
});

it('shows the payment as it stood after each event', async () => {
  start();
  await record('pay_1');
  await eventually(() => expect(bus.records).toHaveLength(4));
  const shown = bus.records.map((encoded) => {
    const decoded = decodePaymentRecord(encoded);
    if (decoded.kind === 'unreadable') throw new Error(decoded.reason);
    return decoded.record.payment;
  });
  expect(shown.map(({ phase }) => phase)).toEqual(['requested', 'init', 'pending', 'approved']);
  expect(shown.map(({ approvedAmount }) => approvedAmount)).toEqual([0, 0, 0, 1250]);
});

it('leaves out what is internal to us, to the team and to the customer', async () => {
  start();
  await record('pay_1');
  await eventually(() => expect(bus.records).toHaveLength(4));
  const written = bus.records
    .map(({ value, headers }) => new TextDecoder().decode(value) + JSON.stringify(headers))
    .join();
  expect(written).not.toMatch(/stays-with-us|secret-p|customer@example/);
});

it('does not take a store that cannot be read for a damaged payment', async () => {
  const first = start();
  await record('pay_1', 0, 2);
  await eventually(() => expect(bus.records).toHaveLength(2));
  await first.stop();
  await record('pay_1', 2);
  const { read } = store;
  let failures = 1;
  store.read = (stream, options) => {
    if (stream.startsWith('payment-') && failures-- > 0) throw new StoreUnavailable('store_busy', 'busy');
    return read(stream, options);
  };
  start();
  await eventually(() => expect(bus.records).toHaveLength(4));
});

it('leaves a damaged payment where it is, and publishes all others', async () => {
  await record('pay_broken', 0, 2);
  await store.append(
    paymentStream('pay_broken'),
    [{ id: systemIds.uuid(), type: 'Nonsense', data: {}, metadata }],
    1,
  );
  start();
  await Promise.all(tokens.map((token) => record(token)));
  await eventually(() => expect(bus.records).toHaveLength(tokens.length * 4 + 2));
});
