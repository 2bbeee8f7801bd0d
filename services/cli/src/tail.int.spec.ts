import { temporaryStore } from '@tollgate/event-store/testing';
import { type EncodedRecord, encodeCallbackRecord, providerCallbacksTopic } from '@tollgate/core';
import { gatewayDisputesTopic, gatewayPaymentsTopic, gatewayPayoutsTopic } from '@tollgate/gateway-api';
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
  const run = async (command: string, hasColours = false) => {
    Object.assign(output, { out: '', error: '' });
    const exitCode = await runCommandLine(command.split(' '), {
      open: async () => ({ tools: { ...tools, hasColours }, close: async () => undefined }),
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

describe('tail', () => {
  it('shows time, type, key, number, status and phase, and amount', async () => {
    const { bus, run } = await start();
    await bus.publish(gatewayPaymentsTopic, [requested, approved]);
    await bus.publish(gatewayPayoutsTopic, [exampleOf('tollgate.payout.approved.v1')]);
    await bus.publish(gatewayDisputesTopic, [exampleOf('tollgate.dispute.opened.v1')]);
    const { exitCode, out, error } = await run(`tail ${gatewayPaymentsTopic}`);
    expect([exitCode, error]).toEqual([0, '']);
    expect(linesOf(out).map((line) => line.split(/ {2,}/))).toEqual([
      [
        ...['2030-01-01T12:00:00.000Z', 'tollgate.payment.requested.v1', 'pay_2ncgkq4v6t3b7yzx', '#3'],
        ...['init/requested', '12.50 EUR'],
      ],
      [
        ...['2030-01-01T12:00:00.000Z', 'tollgate.payment.approved.v1', 'pay_2ncgkq4v6t3b7yzx', '#3'],
        ...['approved/approved', '12.50 EUR'],
      ],
    ]);
    expect((await run(`tail ${gatewayPayoutsTopic}`)).out).toMatch(
      /po_6b3kz7nq2v4t5ycx .*approved\/approved +50\.00 EUR\n$/,
    );
    expect((await run(`tail ${gatewayDisputesTopic}`)).out).toMatch(
      /dsp_4t7vkq3bz2n6y5cx .*open +12\.50 EUR\n$/,
    );
  });

  it('shows nothing if there are no records', async () => {
    const { run } = await start();
    expect(await run(`tail ${gatewayPaymentsTopic}`)).toEqual({ exitCode: 0, out: '', error: '' });
  });

  it('shows the records of one key only', async () => {
    const { bus, run } = await start();
    const long = `pay_${'abcdefgh'.repeat(6)}`;
    await bus.publish(gatewayPaymentsTopic, [requested, { ...approved, key: long }]);
    const { out } = await run(`tail ${gatewayPaymentsTopic} --key ${long}`);
    expect(linesOf(out)).toHaveLength(1);
    expect(out).toContain('  pay_abcdefgh…bcdefgh  ');
  });

  it('shows a full record as a line of JSON', async () => {
    const { bus, run } = await start();
    await bus.publish(gatewayPaymentsTopic, [approved]);
    await bus.publish(gatewayPaymentsTopic, [{ ...approved, value: new Uint8Array([0xff]) }]);
    const [first, second] = linesOf((await run(`tail ${gatewayPaymentsTopic} --json`)).out).map((line) =>
      JSON.parse(line),
    );
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

  it('uses colours only on a terminal that supports them', async () => {
    const { bus, run } = await start();
    await bus.publish(gatewayPaymentsTopic, [approved]);
    expect((await run(`tail ${gatewayPaymentsTopic}`)).out).not.toContain('\u001b');
    const { out } = await run(`tail ${gatewayPaymentsTopic}`, true);
    expect(out).toContain('\u001b[32mapproved/approved');
    expect((await run(`tail ${gatewayPaymentsTopic} --json`, true)).out).not.toContain('\u001b');
  });

  it('shows unknown and unreadable records, without terminal control characters', async () => {
    const { bus, run } = await start();
    const later = { ...approved.headers, ce_type: 'tollgate.payment.split.v1' };
    await bus.publish(gatewayPaymentsTopic, [{ ...approved, headers: later }]);
    await bus.publish(gatewayPaymentsTopic, [{ ...approved, value: new Uint8Array() }]);
    await bus.publish(gatewayPaymentsTopic, [
      { key: '\u001b[2J', value: new Uint8Array(), headers: { ce_type: '\u202e', ce_time: '\n' } },
    ]);
    await bus.publish(gatewayPaymentsTopic, [{ key: 'k', value: new Uint8Array(), headers: {} }]);
    const { out } = await run(`tail ${gatewayPaymentsTopic}`);
    for (const text of ['split.v1', 'of an unknown type', 'unreadable: the value', 'unreadable: the header'])
      expect(out).toContain(text);
    expect(linesOf(out)).toHaveLength(4);
    expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  it('shows callbacks', async () => {
    const { bus, run } = await start();
    const body = new TextEncoder().encode('{"status":"approved"}');
    const callback = encodeCallbackRecord({ environment: 'sandbox', token: 'pay_1', body, receivedAt: 5 });
    await bus.publish(providerCallbacksTopic, [callback]);
    expect((await run(`tail ${providerCallbacksTopic}`)).out).toMatch(/callback +pay_1 +sandbox\n$/);
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
    expect(linesOf(out).map((line) => line.split(/ {2,}/).slice(1, 4))).toEqual(
      ['requested', 'attempt-accepted', 'pending', 'approved'].map((name, number) => [
        ...[`tollgate.payment.${name}.v1`, 'pay_1', `#${number}`],
      ]),
    );
    const [record] = linesOf((await run(`tail ${gatewayPayoutsTopic} --json`)).out).map((line) =>
      JSON.parse(line),
    );
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
    expect((await run(`tail ${gatewayPaymentsTopic}`)).out).toMatch(/pay_1 +unreadable/);
  });
});
