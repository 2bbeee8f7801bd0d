/**
 * `npx node libs/message-bus/bench/kafka.ts`: the adapter compared with the bare client, in one run. KAFKA_BROKERS is the
 * broker's address; `--records <n>` the number of records (20000).
 */
import { randomUUID } from 'node:crypto';
import { silentLog, systemClock } from '@tollgate/service-kit';
import { readCount } from '@tollgate/testing/bench';
import { createKafkaClient } from '../src/kafka/connection.ts';
import { createKafkaMessageBus } from '../src/kafka/kafka-message-bus.ts';
import { ensureTopics } from '../src/kafka/topic-specs.ts';
import type { Message } from '../src/message-bus.ts';

const brokers = (process.env['KAFKA_BROKERS'] ?? '127.0.0.1:9092').split(',');
const count = readCount({ name: '--records', usual: 20_000 });
const recordBytes = 1_000;
const batchSizes = [1, 200];
/** Concurrent callers that publish single records, like arriving callbacks. */
const callers = 64;
const partitions = 4;
const rounds = 3;

const connection = { brokers, clientId: 'tollgate-bench', log: silentLog };
const bus = createKafkaMessageBus({ ...connection, clock: systemClock, deadlineMs: 60_000 });
const { kafka } = createKafkaClient({ ...connection, clientId: 'tollgate-bench-bare' });
const producer = kafka.producer({
  idempotent: true,
  maxInFlightRequests: 1,
});
await producer.connect();

async function freshTopic(): Promise<string> {
  const topic = `bench-${randomUUID()}`;
  const spec = { topic, partitions, replication: 1, minInsyncReplicas: 1, retentionMs: 3_600_000 } as const;
  await ensureTopics({ ...connection, clock: systemClock }, [{ ...spec, cleanup: 'delete' }]);
  return topic;
}

const messages = (total: number): Message[] =>
  Array.from({ length: total }, (_, index) => ({
    key: `pay_${index % 997}`,
    value: Buffer.alloc(recordBytes, 'x'),
    headers: { ce_id: String(index), ce_type: 'tollgate.payment.approved.v1' },
  }));

type Send = (topic: string, batch: readonly Message[]) => Promise<unknown>;
const sends: Record<string, Send> = {
  bare: (topic, batch) =>
    producer.send({
      topic,
      acks: -1,
      messages: batch.map(({ key, value, headers }) => ({ key, value: Buffer.from(value), headers })),
    }),
  adapter: (topic, batch) => bus.publish(topic, batch),
};

/** Records per second. */
async function measure(total: number, work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (total / (performance.now() - startedAt)) * 1_000;
}

async function publishInTurn(send: Send, topic: string, size: number): Promise<number> {
  const total = size === 1 ? Math.ceil(count / 20) : count;
  const all = messages(total);
  return measure(total, async () => {
    for (let at = 0; at < total; at += size) await send(topic, all.slice(at, at + size));
  });
}

async function publishSideBySide(send: Send, topic: string): Promise<number> {
  const total = Math.ceil(count / 4);
  const all = messages(total).values();
  return measure(total, async () => {
    const caller = async () => {
      for (const message of all) await send(topic, [message]);
    };
    await Promise.all(Array.from({ length: callers }, caller));
  });
}

async function consumeBare(topic: string): Promise<number> {
  const consumer = kafka.consumer({ groupId: randomUUID(), maxWaitTimeInMs: 250 });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  const all = Promise.withResolvers<undefined>();
  let seen = 0;
  const rate = await measureFromFirst(all.promise, (onFirst) =>
    consumer.run({
      eachBatch: async ({ batch }) => {
        onFirst();
        seen += batch.messages.length;
        if (seen >= count) all.resolve(undefined);
      },
    }),
  );
  await consumer.disconnect();
  return rate;
}

async function consumeByAdapter(topic: string): Promise<number> {
  const ending = new AbortController();
  const all = Promise.withResolvers<undefined>();
  let seen = 0;
  let ended: Promise<void> | undefined;
  const rate = await measureFromFirst(all.promise, async (onFirst) => {
    ended = bus.subscribe({ group: randomUUID(), topics: [topic], signal: ending.signal }, async (batch) => {
      onFirst();
      seen += batch.length;
      if (seen >= count) all.resolve(undefined);
    });
  });
  ending.abort();
  await ended;
  return rate;
}

/** From the first batch on, without the time for joining the group. */
async function measureFromFirst(
  all: Promise<undefined>,
  start: (onFirst: () => void) => Promise<void>,
): Promise<number> {
  let startedAt = 0;
  await start(() => (startedAt ||= performance.now()));
  await all;
  return (count / (performance.now() - startedAt)) * 1_000;
}

const median = (values: number[]) =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
const show = (text: string, values: readonly number[][]) => {
  const [bare = 0, adapter = 0] = values.map(median);
  const columns = [bare, adapter].map((value) => Math.round(value).toLocaleString('en').padStart(12));
  process.stdout.write(`${text.padEnd(44)}${columns.join('')}${(adapter / bare).toFixed(2).padStart(9)}\n`);
};

async function compare(text: string, works: readonly (() => Promise<number>)[]): Promise<void> {
  const values = works.map((): number[] => []);
  // In turn, so that other load on the machine affects both.
  for (let round = 0; round < rounds; round += 1)
    for (const [index, work] of works.entries()) values[index]?.push(await work());
  show(text, values);
}

process.stdout.write(
  `${recordBytes} bytes, acks=all, ${partitions} partitions, median of ${rounds}; records/s\n`,
);
process.stdout.write(
  `${''.padEnd(44)}${'bare'.padStart(12)}${'adapter'.padStart(12)}${'ratio'.padStart(9)}\n`,
);
for (const size of batchSizes)
  await compare(
    `publish ${size} at a time`,
    Object.values(sends).map((send) => async () => publishInTurn(send, await freshTopic(), size)),
  );
await compare(
  `publish 1 at a time, ${callers} callers`,
  Object.values(sends).map((send) => async () => publishSideBySide(send, await freshTopic())),
);
const full = await freshTopic();
await publishInTurn(sends['adapter']!, full, 200);
await compare('consume', [() => consumeBare(full), () => consumeByAdapter(full)]);
await producer.disconnect();
await bus.close();
