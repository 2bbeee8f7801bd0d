import { temporaryStore } from '@tollgate/event-store/testing';
import { type EncodedRecord, encodeCallbackRecord, providerCallbacksTopic } from '@tollgate/core';
import { gatewayPaymentsTopic, gatewayPayoutsTopic } from '@tollgate/gateway-api';
import { exampleOf as recordOf } from '@tollgate/gateway-api/asyncapi';
import { createEmbeddedMessageBus, createEmbeddedTopicReader } from '@tollgate/message-bus';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  appendEvents,
  appendPayment,
  happening,
  payoutRequested,
  requested as paymentRequested,
} from '@tollgate/views/testing';
import { runCommandLine } from './program.ts';
import { toolsWith } from './testing/run-with.ts';

function exampleOf(type: string, key?: string): EncodedRecord {
  const example = recordOf(type);
  return { ...example, key: key ?? example.key };
}

const requested = exampleOf('tollgate.payment.requested.v1');
const approved = exampleOf('tollgate.payment.approved.v1');

/** A bus in place of Kafka, with command lines; without Kafka, command lines on the same store. */
async function start({ isKafka = true } = {}) {
  const store = await temporaryStore();
  const parts = { store, clock: systemClock, ids: systemIds, log: silentLog };
  const bus = createEmbeddedMessageBus({ ...parts, holder: 'gateway' });
  onTestFinished(() => bus.close());
  const stopping = new AbortController();
  const tools = toolsWith({
    ...parts,
    ...(isKafka ? { topicReader: createEmbeddedTopicReader({ store }) } : {}),
    stopSignal: () => stopping.signal,
  });
  const output = { out: '', error: '' };
  const run = async (command: string) => {
    Object.assign(output, { out: '', error: '' });
    const exitCode = await runCommandLine(command.split(' '), {
      open: async () => ({ tools, close: async () => undefined }),
      print: (text) => (output.out += text),
      complain: (text) => (output.error += text),
    });
    return { exitCode, ...output };
  };
  const stop = () => stopping.abort();
  onTestFinished(stop);
  return { store, bus, run, output, stop };
}

const linesOf = (out: string) => out.split('\n').slice(0, -1);
const recordsIn = (out: string) => linesOf(out).map((line) => JSON.parse(line) as Record<string, unknown>);

describe('tail', () => {
  it('shows nothing if there are no records', async () => {
    const { run } = await start();
    expect(await run(`tail ${gatewayPaymentsTopic}`)).toEqual({ exitCode: 0, out: '', error: '' });
  });

  it('shows the records of one key only', async () => {
    const { bus, run } = await start();
    await bus.publish(gatewayPaymentsTopic, [requested, { ...approved, key: 'pay_2' }]);
    const { out } = await run(`tail ${gatewayPaymentsTopic} --key pay_2`);
    expect(recordsIn(out)).toMatchObject([{ key: 'pay_2' }]);
  });

  it('shows each record as a line of JSON', async () => {
    const { bus, run } = await start();
    await bus.publish(gatewayPaymentsTopic, [approved]);
    await bus.publish(gatewayPaymentsTopic, [{ ...approved, value: new Uint8Array([0xff]) }]);
    const [first, second] = recordsIn((await run(`tail ${gatewayPaymentsTopic}`)).out);
    expect(first).toEqual({
      topic: gatewayPaymentsTopic,
      partition: expect.any(Number),
      offset: '0',
      key: approved.key,
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      headers: approved.headers,
      value: JSON.parse(new TextDecoder().decode(approved.value)),
    });
    expect(second).toMatchObject({ offset: '1', valueBase64: '/w==' });
  });

  it('starts at a time', async () => {
    const { bus, run } = await start();
    await bus.publish(gatewayPaymentsTopic, [approved]);
    const linesFrom = async (place: string) =>
      linesOf((await run(`tail ${gatewayPaymentsTopic} --from ${place}`)).out).length;
    expect(await linesFrom('2020-01-01T00:00:00Z')).toBe(1);
    expect(await linesFrom('2020-01-01')).toBe(1);
    expect(await linesFrom('2020-01-01T00:00:00+02:00')).toBe(1);
    expect(await linesFrom('2999-01-01T00:00:00Z')).toBe(0);
  });

  it('follows new records until it is stopped', async () => {
    const { bus, run, output, stop } = await start();
    await bus.publish(gatewayPaymentsTopic, [requested]);
    const running = run(`tail ${gatewayPaymentsTopic} --follow --from beginning`);
    await eventually(() => expect(linesOf(output.out)).toHaveLength(1));
    await bus.publish(gatewayPaymentsTopic, [approved]);
    await eventually(() => expect(linesOf(output.out)).toHaveLength(2));
    stop();
    expect((await running).exitCode).toBe(0);
  });

  it('starts at the end when following', async () => {
    const { bus, run, output, stop } = await start();
    await bus.publish(gatewayPaymentsTopic, [requested]);
    const running = run(`tail ${gatewayPaymentsTopic} --follow`);
    await eventually(async () => {
      await bus.publish(gatewayPaymentsTopic, [approved]);
      expect(output.out).not.toBe('');
    });
    stop();
    expect((await running).out).not.toContain('requested');
  });

  it('shows callbacks', async () => {
    const { bus, run } = await start();
    const body = new TextEncoder().encode('{"status":"approved"}');
    const callback = encodeCallbackRecord({ environment: 'sandbox', token: 'pay_1', body, receivedAt: 5 });
    await bus.publish(providerCallbacksTopic, [callback]);
    expect(recordsIn((await run(`tail ${providerCallbacksTopic}`)).out)).toMatchObject([
      { key: 'pay_1', headers: { environment: 'sandbox' } },
    ]);
  });
});

describe('tail without Kafka', () => {
  const history = [paymentRequested(), happening.accepted, happening.pending, happening.approved];

  it('computes the records of the public topics from the events', async () => {
    const { store, run } = await start({ isKafka: false });
    await appendPayment(store, 'pay_1', history);
    await appendEvents(store, 'payout-po_1', [payoutRequested()]);
    const { exitCode, out, error } = await run(`tail ${gatewayPaymentsTopic}`);
    expect([exitCode, error]).toEqual([0, '']);
    expect(recordsIn(out)).toMatchObject(
      ['requested', 'attempt-accepted', 'pending', 'approved'].map((name) => ({
        key: 'pay_1',
        headers: { ce_type: `tollgate.payment.${name}.v1` },
      })),
    );
    const [record] = recordsIn((await run(`tail ${gatewayPayoutsTopic}`)).out);
    expect(record).toMatchObject({ topic: gatewayPayoutsTopic, key: 'po_1', value: { payout: {} } });
    expect((await run(`tail ${gatewayPaymentsTopic} --key pay_2`)).out).toBe('');
    expect((await run(`tail ${gatewayPaymentsTopic} --from 2999-01-01`)).out).toBe('');
  });

  it('follows new events', async () => {
    const { store, run, output, stop } = await start({ isKafka: false });
    await appendPayment(store, 'pay_1', history.slice(0, 3));
    const running = run(`tail ${gatewayPaymentsTopic} --follow --from beginning`);
    await eventually(() => expect(linesOf(output.out)).toHaveLength(3));
    await appendPayment(store, 'pay_1', history.slice(3));
    await eventually(() => expect(linesOf(output.out)).toHaveLength(4));
    stop();
    expect((await running).exitCode).toBe(0);
  });

  it('names an event that has no record', async () => {
    const { store, run } = await start({ isKafka: false });
    await store.append(
      'payment-pay_1',
      [{ id: systemIds.uuid(), type: 'OfLaterVersion', data: {}, metadata: {} }],
      'no-stream',
    );
    expect((await run(`tail ${gatewayPaymentsTopic}`)).out).toContain('"key":"pay_1"');
  });
});
