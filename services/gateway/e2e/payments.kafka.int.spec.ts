/** Records of a gateway on Kafka: every event once and in order. Invalid records do not stop it. */
import {
  decodeDisputeRecord,
  decodePaymentRecord,
  decodePayoutRecord,
  providerCallbacksTopic,
  type EncodedRecord,
} from '@tollgate/gateway-api';
import type { BusRecord } from '@tollgate/message-bus';
import { createKafkaMessageBus } from '@tollgate/message-bus/kafka';
import { publishAsForeigner } from '@tollgate/message-bus/testing';
import { systemClock, dayMs } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueKey } from './commands.ts';
import { expectPublishedOnce } from './kafka-topic.ts';
import { localBroker, stopBrokers } from './local-broker.ts';
import { read, serviceTokenOf } from './ledger.ts';
import { type Load, newLoad, pay, payout, refundedPayment, captureOrVoidPayment } from './mixed-load.ts';
import { type CallGateway, type System, startSystem, stopEverything } from './system.ts';

const settled = { timeoutMs: 30_000 };
const charged = { pan: '5555555555554444', expires: '12/2039', holder: 'Ada Lovelace', cvv: '7391' };

const broker = localBroker();
const { brokers } = broker;
let system: System;
/** With a key that may send cards. */
let gateway: CallGateway;
let cardKey: string;
let load: Load;

beforeAll(async () => {
  await broker.start();
  system = await startSystem({ env: { KAFKA_BROKERS: brokers } });
  cardKey = await issueKey(system, 'demo', 'payments,refunds,payouts,read,cards,stored-cards,admin');
  gateway = system.gatewayAs(cardKey);
  await eventually(
    async () => expect((await gateway('GET', '/api/v1/payments')).statusCode).toBe(200),
    settled,
  );
  load = newLoad(() => ({ ...system, gateway }));
}, 120_000);
afterAll(async () => {
  await stopEverything();
  await stopBrokers();
});

// Publisher and consumers must wait for new topics instead of logging errors.
it('a first start, on a broker without topics, logs no warning', () => {
  const lines = system
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { service: string });
  // A key is refused until the gateway has loaded it.
  expect(lines.filter(({ service }) => service !== 'security')).toEqual([]);
});

const create = (body: object) =>
  gateway('POST', '/api/v1/payments', { body: { product: 'Tea', currency: 'EUR', ...body } });

const untilPhase = (token: string, phase: string) =>
  eventually(async () => expect(await read(gateway, 'payment', token)).toMatchObject({ phase }), settled);

/** Money for payouts: a large settled payment. It also yields a recurring token. */
async function fund(): Promise<string> {
  const { body } = await create({ amount: 1_000_000, orderNumber: 'funds', recurring: true });
  await pay(load, body.processingUrl);
  await untilPhase(body.token, 'approved');
  await system.sandbox('POST', '/sandbox/clock', { advanceMs: 2 * dayMs });
  return body.token;
}

async function dispute(token: string): Promise<void> {
  const serviceToken = await serviceTokenOf(system.sandbox, token);
  const opened = await system.sandbox('POST', '/sandbox/disputes', { token: serviceToken, amount: 5 });
  const { id } = opened.body.dispute;
  await untilDisputeIs('open');
  await system.sandbox('POST', `/sandbox/disputes/${id}/resolve`, { status: 'declined' });
  await untilDisputeIs('won');
}

const untilDisputeIs = (status: string) =>
  eventually(async () => {
    expect((await gateway('GET', '/api/v1/disputes/list')).body.disputes).toMatchObject([{ status }]);
  }, settled);

const lastOf = (records: readonly BusRecord[], token: string): BusRecord => {
  const last = records.findLast(({ key }) => key === token);
  if (last === undefined) throw new Error(`no record has the key ${token}`);
  return last;
};

describe('on a real broker', { timeout: 90_000 }, () => {
  it('each event of payments, refunds, payouts and disputes is on its topic once, in order', async () => {
    const funds = await fund();
    const flows = [
      refundedPayment(load, 'refunded'),
      captureOrVoidPayment(load, 'confirmed', 'confirm'),
      captureOrVoidPayment(load, 'let-go', 'decline'),
      payout(load, 'paid-out'),
      create({ amount: 100, orderNumber: 'charged', card: charged }),
      dispute(funds),
    ];
    await Promise.all(flows);
    const records = await expectPublishedOnce({ dataDir: system.dataDir, brokers });
    for (const { token, kind } of load.outcomes) {
      const { status, phase } = await read(gateway, kind, token);
      const last = lastOf(records, token);
      const decoded = kind === 'payment' ? decodePaymentRecord(last) : decodePayoutRecord(last);
      expect(decoded).toMatchObject({ kind: 'record', record: { [kind]: { token, status, phase } } });
    }
    const disputes = records.flatMap((record) => {
      const decoded = decodeDisputeRecord(record);
      return decoded.kind === 'record' ? [decoded.record.dispute] : [];
    });
    expect(disputes.at(-1)).toMatchObject({ paymentToken: funds, status: 'won', amount: 5 });
    expect(load.contradictions).toEqual([]);
  });
});

/** The maximum size of a record by our own limit: key, value and headers with some margin each. */
const largestValueBytes = 1_000_000 - 40 - 'huge'.length;

const poison: Record<string, EncodedRecord> = {
  'not JSON': encoded('no-json', 'this is {no JSON'),
  'an array': encoded('array', '[{"status":"approved"}]'),
  nothing: encoded('nothing', ''),
  'no text': { ...encoded('no-text', ''), value: new Uint8Array([0xff, 0xfe, 0x00, 0x7b]) },
  'deep JSON': encoded('deep', '['.repeat(100_000)),
  'a polluted object': encoded('pay_polluted', '{"__proto__":{"status":"approved"}}'),
  'no environment': { ...encoded('pay_nowhere', '{}'), headers: {} },
  'no key': encoded('', '{}'),
  'an unknown token': encoded('pay_unknown', '{"type":"payment","status":"approved","token":"x"}'),
  'a large text': encoded('large', 'x'.repeat(900_000)),
  'the largest text': {
    key: 'huge',
    value: new TextEncoder().encode('x'.repeat(largestValueBytes)),
    headers: {},
  },
};

/** Kafka accepts more than we publish: records of up to 1,048,588 bytes including overhead. */
const foreign: Record<string, EncodedRecord> = {
  'a text that only others may publish': encoded('large-text', 'x'.repeat(1_048_300)),
  'a callback that only others may publish': encoded(
    'large-callback',
    JSON.stringify({ type: 'payment', status: 'approved', more: 'x'.repeat(1_020_000) }),
  ),
  'a key that only others may publish': encoded(`large-key-${'x'.repeat(1_020_000)}`, '{}'),
  'headers that only others may publish': {
    ...encoded('large-headers', 'this is {no JSON'),
    headers: { large: 'x'.repeat(600_000), larger: 'é'.repeat(200_000) },
  },
};

function encoded(key: string, text: string): EncodedRecord {
  const headers = { 'content-type': 'application/json', environment: 'sandbox', 'received-at': '1' };
  return { key, value: new TextEncoder().encode(text), headers };
}

it.each(Object.entries({ ...poison, ...foreign }))(
  'a record that is not a callback is skipped, and the callbacks after it are applied: %s',
  async (name, record) => {
    const bus = createKafkaMessageBus({ brokers: [brokers], clientId: 'e2e-poison', clock: systemClock });
    // The same partition, so that no record overtakes it.
    const topic = providerCallbacksTopic;
    const partition = name in foreign ? 0 : await bus.partitionOf(topic, record.key);
    if (name in foreign) await publishAsForeigner([brokers], { topic, partition }, record);
    else await bus.publish(providerCallbacksTopic, [record]);
    const token = await paidInPartition(partition, name, (key) =>
      bus.partitionOf(providerCallbacksTopic, key),
    );
    await untilPhase(token, 'approved');
    await bus.close();
  },
);

/** Creates payments until one is of that partition, and pays it. */
async function paidInPartition(
  partition: number,
  name: string,
  partitionOf: (key: string) => Promise<number>,
): Promise<string> {
  for (let number = 1; number <= 200; number += 1) {
    const { body } = await create({ amount: 100, orderNumber: `${name}-${number}` });
    if ((await partitionOf(body.token)) !== partition) continue;
    await pay(load, body.processingUrl);
    return body.token;
  }
  throw new Error(`no payment was of partition ${partition}`);
}
