import { DatabaseSync } from 'node:sqlite';
import { silentLog, hourMs } from '@tollgate/service-kit';
import { afterEach, describe, expect, it } from 'vitest';
import {
  createCallbackDelivery,
  paymentNotice,
  queueCallback,
  retryPausesMs,
  tryTimeoutMs,
} from './callbacks.ts';
import type { QueueFault } from './faults.ts';
import { newPayment, openCheckout, settleAs, type Payment } from './payments.ts';
import { migrate } from './storage/schema.ts';
import { createTables } from './storage/tables.ts';
import { createFakeClock } from '@tollgate/testing';
import { tea } from './testing/samples.ts';

const start = 1_800_000_000_000;

type Post = (body: { status: string; token: string }, signal: AbortSignal) => Promise<number>;

/** The delivery with an in-memory queue, a manual clock, and a receiver played by the test. */
function setUp(post: Post) {
  const connection = new DatabaseSync(':memory:');
  migrate(connection);
  connection.exec("INSERT INTO merchants (name) VALUES ('demo')");
  const { callbacks } = createTables(connection);
  let ids = 0;
  const newId = () => String((ids += 1));
  const all = () => callbacks.list({ merchantId: 1 }, { limit: 100 }).reverse();
  const clock = createFakeClock({ now: start });
  const sent: string[] = [];
  const delivery = createCallbackDelivery({
    database: { write: (transaction) => transaction() },
    callbacks,
    now: clock.now,
    clock,
    postJson: (_url, body, signal) => {
      const parsed = JSON.parse(body) as { status: string; token: string };
      sent.push(parsed.status);
      return post(parsed, signal);
    },
    log: silentLog,
  });
  const stopping = new AbortController();
  const ended = delivery.run(stopping.signal);
  const add = (payment: Payment, fault?: QueueFault) => {
    const parts = { callbacks, now: clock.now, newId };
    queueCallback(parts, paymentNotice(payment), fault && { fault, delayMs: 5_000 });
    delivery.wake();
  };
  const states = () => all().map(({ state }) => state);
  cleanUps.push(async () => {
    stopping.abort();
    await ended;
  });
  return {
    clock,
    add,
    sent,
    states,
    tries: () => all().map(({ tries }) => tries),
  };
}

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

const payment = (token = 'a'): Payment =>
  newPayment({ ...tea, orderNumber: 'A-1' }, { token: token.repeat(32), merchantId: 1 }, start);
const pending = (token?: string): Payment => openCheckout(payment(token), start);
const approved = (token?: string): Payment => settleAs('approved', 'f'.repeat(32))(pending(token), start);

describe('the delivery of callbacks', () => {
  it.each([201, 204, 302, 404, 500])('tries again when answered %i', async (statusCode) => {
    const answers = [statusCode, 200];
    const { clock, add, sent, states } = setUp(async () => answers.shift() ?? 200);
    add(pending());
    await clock.advance(retryPausesMs[0] ?? 0);
    expect(sent).toHaveLength(2);
    expect(states()).toEqual(['delivered']);
  });

  it('makes nine attempts within an hour by the schedule, then gives up', async () => {
    const { clock, add, sent, states, tries } = setUp(async () => Promise.reject(new Error('refused')));
    add(pending());
    for (const [index, pauseMs] of retryPausesMs.entries()) {
      await clock.advance(pauseMs - 1);
      expect(sent).toHaveLength(index + 1);
      await clock.advance(1);
      expect(sent).toHaveLength(index + 2);
    }
    await clock.advance(24 * hourMs);
    expect(sent).toHaveLength(9);
    expect(states()).toEqual(['given_up']);
    expect(tries()).toEqual([9]);
    expect(retryPausesMs.reduce((sum, pauseMs) => sum + pauseMs, 9 * tryTimeoutMs)).toBeLessThanOrEqual(
      hourMs,
    );
  });

  it('aborts an attempt after ten seconds', async () => {
    const isBrokenOff: boolean[] = [];
    const hang: Post = (_body, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          isBrokenOff.push(true);
          reject(new Error('broken off'));
        });
      });
    const { clock, add, sent } = setUp(hang);
    add(pending());
    await clock.advance(tryTimeoutMs - 1);
    expect(isBrokenOff).toEqual([]);
    await clock.advance(1);
    expect(isBrokenOff).toEqual([true]);
    await clock.advance(retryPausesMs[0] ?? 0);
    expect(sent).toHaveLength(2);
  });

  it('sends at most 32 at a time, and one at a time per payment', async () => {
    const underWay = new Map<string, number>();
    let most = 0;
    let mostOfOnePayment = 0;
    const { clock, add, states } = setUp(async ({ token }) => {
      underWay.set(token, (underWay.get(token) ?? 0) + 1);
      most = Math.max(
        most,
        [...underWay.values()].reduce((sum, count) => sum + count, 0),
      );
      mostOfOnePayment = Math.max(mostOfOnePayment, ...underWay.values());
      await clock.sleep(1_000);
      underWay.set(token, (underWay.get(token) ?? 0) - 1);
      return 200;
    });
    for (let index = 0; index < 50; index += 1) {
      add({ ...pending(), token: `payment-${index}` });
      add({ ...approved(), token: `payment-${index}` });
    }
    await clock.advance(60_000);
    expect(most).toBe(32);
    expect(mostOfOnePayment).toBe(1);
    expect(states()).toEqual(Array.from({ length: 100 }, () => 'delivered'));
  });
});

describe('a fault of callbacks', () => {
  it.each([
    ['drop', [], [], 'dropped'],
    ['duplicate', ['pending', 'pending'], ['pending', 'pending'], 'delivered'],
    ['delay', [], ['pending'], 'delivered'],
  ] as const)('%s: at once %j is sent, and after the delay %j', async (fault, atOnce, inTheEnd, state) => {
    const { clock, add, sent, states } = setUp(async () => 200);
    add(pending(), fault);
    await clock.advance(4_999);
    expect(sent).toEqual(atOnce);
    await clock.advance(1);
    expect(sent).toEqual(inTheEnd);
    expect(new Set(states())).toEqual(new Set([state]));
  });
});
