/** The example of libs/gateway-api on a simulated Kafka: each change is booked once. */
import { temporaryFile, temporaryStore } from '@tollgate/event-store/testing';
import { type EncodedRecord } from '@tollgate/core';
import { gatewayPaymentsTopic, gatewayPayoutsTopic } from '@tollgate/gateway-api';
import { exampleOf } from '@tollgate/gateway-api/asyncapi';
import { type Entry, openBookkeeper } from '@tollgate/gateway-api/example';
import { createEmbeddedMessageBus } from '@tollgate/message-bus';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { expect, it, onTestFinished } from 'vitest';

/** A record like the example of its type, of another payment or payout and at another place in its history. */
function recordOf(type: string, key: string, sequence: number): EncodedRecord {
  const example = exampleOf(type);
  const value = JSON.parse(new TextDecoder().decode(example.value));
  value.event.sequence = sequence;
  for (const subject of [value.payment, value.payout]) if (subject !== undefined) subject.token = key;
  return {
    key,
    headers: { ...example.headers, ce_subject: key, ce_sequence: String(sequence) },
    value: new TextEncoder().encode(JSON.stringify(value)),
  };
}

const paymentTypes = ['requested', 'approved', 'refund-approved'];
const payoutTypes = ['requested', 'approved'];
const historyOf = (subject: string, types: string[], key: string) =>
  types.map((type, sequence) => recordOf(`tollgate.${subject}.${type}.v1`, key, sequence));

const payments = Array.from({ length: 8 }, (_, number) =>
  historyOf('payment', paymentTypes, `pay_${number}`),
);
const payouts = Array.from({ length: 3 }, (_, number) => historyOf('payout', payoutTypes, `po_${number}`));

const expectedOf = (token: string): Entry[] =>
  token.startsWith('pay_')
    ? [
        { token, event: 'PaymentApproved', amount: 1250, currency: 'EUR' },
        { token, event: 'RefundApproved', amount: -250, currency: 'EUR' },
      ]
    : [{ token, event: 'PayoutApproved', amount: -5000, currency: 'EUR' }];

async function start() {
  const store = await temporaryStore();
  const bus = createEmbeddedMessageBus({
    store,
    clock: systemClock,
    ids: systemIds,
    log: silentLog,
    holder: 'e2e',
  });
  onTestFinished(() => bus.close());
  return { bus, file: `${await temporaryFile()}-books` };
}

type Bus = Awaited<ReturnType<typeof start>>['bus'];

/** Runs the example as a member of a group; `crash` may throw between the effect of a batch and its commit. */
async function consume(
  { bus, file }: { bus: Bus; file: string },
  { group, count, crash = () => undefined }: { group: string; count: number; crash?: () => void },
): Promise<{ entries: Entry[]; setAsideCount: number }> {
  const bookkeeper = openBookkeeper(file);
  const stopping = new AbortController();
  const offsets = new Set<string>();
  const consuming = bus.subscribe(
    { group, topics: [gatewayPaymentsTopic, gatewayPayoutsTopic], signal: stopping.signal },
    async (batch) => {
      bookkeeper.handle(batch);
      crash();
      for (const { topic, partition, offset } of batch) offsets.add(`${topic} ${partition} ${offset}`);
    },
  );
  await eventually(() => expect(offsets.size).toBe(count));
  stopping.abort();
  await consuming;
  const result = { entries: bookkeeper.entries(), setAsideCount: bookkeeper.setAsideCount() };
  bookkeeper.close();
  return result;
}

function expectBookedOnce(entries: readonly Entry[]): void {
  const tokens = [...payments, ...payouts].map(([first]) => first?.key ?? '');
  for (const token of tokens)
    expect(entries.filter((entry) => entry.token === token)).toEqual(expectedOf(token));
  expect(entries).toHaveLength(tokens.flatMap(expectedOf).length);
}

const count = payments.flat().length + payouts.flat().length;

async function publishAll(bus: Bus): Promise<void> {
  for (const history of payments) await bus.publish(gatewayPaymentsTopic, history);
  for (const history of payouts) await bus.publish(gatewayPayoutsTopic, history);
}

it('books each change once although it repeatedly stops between effect and commit', async () => {
  const given = await start();
  await publishAll(given.bus);
  let crashes = 0;
  const crash = () => {
    // Every other attempt fails, so each batch is delivered at least twice.
    crashes += 1;
    if (crashes % 2 === 1) throw new Error('It stops in this test.');
  };
  const { entries } = await consume(given, { group: 'books', count, crash });
  expect(crashes).toBeGreaterThan(2);
  expectBookedOnce(entries);
});

it('books nothing more for records that are on the topic twice, or if it starts again at the first record', async () => {
  const given = await start();
  await publishAll(given.bus);
  await publishAll(given.bus);
  await consume(given, { group: 'books', count: 2 * count });
  const { entries } = await consume(given, { group: 'books-again', count: 2 * count });
  expectBookedOnce(entries);
});

it('books records after an unreadable one, and keeps that one', async () => {
  const given = await start();
  const damaged = { ...recordOf('tollgate.payment.approved.v1', 'pay_0', 0), value: new Uint8Array([0xff]) };
  await given.bus.publish(gatewayPaymentsTopic, [
    damaged,
    recordOf('tollgate.payment.approved.v1', 'pay_0', 1),
  ]);
  await given.bus.publish(gatewayPaymentsTopic, [
    { ...damaged, headers: { ce_type: 'tollgate.payment.split.v1' } },
  ]);
  await consume(given, { group: 'books', count: 3 });
  const { entries, setAsideCount } = await consume(given, { group: 'books-again', count: 3 });
  expect([entries.map(({ event }) => event), setAsideCount]).toEqual([['PaymentApproved'], 1]);
});
