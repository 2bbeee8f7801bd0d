import { temporaryStore } from '@tollgate/event-store/testing';
import {
  gatewayPaymentsTopic,
  gatewayPayoutsTopic,
  encodeCallbackRecord,
  providerCallbacksTopic,
} from '@tollgate/gateway-api';
import { createEmbeddedMessageBus } from '@tollgate/message-bus';
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
import { runWith, toolsWith } from './testing/run-with.ts';

/** Command lines on a store, and its bus. */
async function start() {
  const store = await temporaryStore();
  const parts = { store, clock: systemClock, ids: systemIds, log: silentLog };
  const bus = createEmbeddedMessageBus({ ...parts, holder: 'gateway' });
  onTestFinished(() => bus.close());
  const stopping = new AbortController();
  const tools = toolsWith({ ...parts, stopSignal: () => stopping.signal });
  const output = { out: '', error: '' };
  const run = (command: string) => runWith(tools, command, Object.assign(output, { out: '', error: '' }));
  const stop = () => stopping.abort();
  onTestFinished(stop);
  return { store, bus, run, output, stop };
}

const linesOf = (out: string) => out.split('\n').slice(0, -1);
const recordsIn = (out: string) => linesOf(out).map((line) => JSON.parse(line) as Record<string, unknown>);

describe('tail', () => {
  const history = [paymentRequested(), happening.accepted, happening.pending, happening.approved];

  it('shows each record as a line of JSON', async () => {
    const { store, run } = await start();
    expect(await run(`tail ${gatewayPaymentsTopic}`)).toEqual({ exitCode: 0, out: '', error: '' });
    await appendPayment(store, 'pay_1', [paymentRequested()]);
    const [record] = recordsIn((await run(`tail ${gatewayPaymentsTopic}`)).out);
    expect(record).toMatchObject({
      topic: gatewayPaymentsTopic,
      partition: 0,
      offset: expect.any(String),
      key: 'pay_1',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      value: { payment: { token: 'pay_1' } },
    });
  });

  it('starts at a time', async () => {
    const { store, run } = await start();
    await appendPayment(store, 'pay_1', [paymentRequested()]);
    const linesFrom = async (place: string) =>
      linesOf((await run(`tail ${gatewayPaymentsTopic} --from ${place}`)).out).length;
    for (const [place, count] of [
      ['2020-01-01T00:00:00Z', 1],
      ['2020-01-01', 1],
      ['2020-01-01T00:00:00+02:00', 1],
      ['2999-01-01T00:00:00Z', 0],
    ] as const)
      expect([place, await linesFrom(place)]).toEqual([place, count]);
  });

  it('starts at the end when following', async () => {
    const { store, run, output, stop } = await start();
    await appendPayment(store, 'pay_1', [paymentRequested()]);
    const running = run(`tail ${gatewayPaymentsTopic} --follow`);
    let number = 2;
    await eventually(async () => {
      await appendPayment(store, `pay_${(number += 1)}`, [paymentRequested()]);
      expect(output.out).not.toBe('');
    });
    stop();
    expect((await running).out).not.toContain('"key":"pay_1"');
  });

  it('computes the records of the public topics from the events', async () => {
    const { store, run } = await start();
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
  });

  it('follows new events', async () => {
    const { store, run, output, stop } = await start();
    await appendPayment(store, 'pay_1', history.slice(0, 3));
    const running = run(`tail ${gatewayPaymentsTopic} --follow --from beginning`);
    await eventually(() => expect(linesOf(output.out)).toHaveLength(3));
    await appendPayment(store, 'pay_1', history.slice(3));
    await eventually(() => expect(linesOf(output.out)).toHaveLength(4));
    stop();
    expect((await running).exitCode).toBe(0);
  });

  it('names an event that has no record', async () => {
    const { store, run } = await start();
    await store.append(
      'payment-pay_1',
      [{ id: systemIds.uuid(), type: 'OfLaterVersion', data: {}, metadata: {} }],
      'no-stream',
    );
    expect((await run(`tail ${gatewayPaymentsTopic}`)).out).toContain('"key":"pay_1"');
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
