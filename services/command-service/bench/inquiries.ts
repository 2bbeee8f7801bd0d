/**
 * `npm run bench -- inquiries`: the cost of a pass of the inquiry schedule with many open payments and none due, and the number
 * of due inquiries per second that it begins and postpones
 * with a provider that answers at once; with 1,000 open payments, and with more.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmbeddedEventStore, type EventStore, type Position } from '@tollgate/event-store';
import {
  type PaymentEvent,
  type PaymentState,
  evolve,
  inquiryDelays,
  inquiryShards,
  createInquirySchedule,
} from '@tollgate/core';
import { silentLog, systemClock, systemIds, hourMs } from '@tollgate/service-kit';
import { readCount } from '@tollgate/testing/bench';
import { createPaymentIndex } from '@tollgate/lists';
import {
  type PaymentView,
  paymentKind,
  viewSchemaVersion,
  viewWrittenType,
  streamOf,
  viewStreamOf,
} from '@tollgate/views';

const appendsAtOnce = 500;
const passes = 200;
const allShards = [...Array(inquiryShards).keys()];

const whole = (value: number) => Math.round(value).toLocaleString('en');
const say = (name: string, figure: string) => process.stdout.write(`  ${name.padEnd(58)} ${figure}\n`);
const residentMiB = () => {
  globalThis.gc?.();
  return process.memoryUsage().rss / 1_048_576;
};

/** An open payment; its token and its times are filled in later. */
function openView(): PaymentView {
  const attempt = { number: 1, account: 'main', providerOrderNumber: 'pay_0.1' };
  const window = { sendBy: 0, answerBy: 0, quietUntil: 0 };
  const terms = {
    kind: 'hosted',
    product: 'Tea',
    amount: 1_250,
    currency: 'EUR',
    needConfirmation: false,
  } as const;
  const events: PaymentEvent[] = [
    {
      type: 'PaymentRequested',
      data: {
        environment: 'sandbox',
        team: 'shop',
        wallet: 'team-shop',
        askedBy: 'k1',
        terms,
        fingerprint: 'f',
        attempt: { ...attempt, ...window },
      },
    },
    { type: 'AttemptAccepted', data: { attemptNumber: 1, serviceToken: 's', evidence: 'answer' } },
  ];
  const payment = events.reduce<PaymentState>(evolve, undefined);
  if (payment === undefined) throw new Error('a history without a payment');
  return {
    schemaVersion: viewSchemaVersion,
    token: 'pay_0',
    createdAt: 0,
    updatedAt: 0,
    revision: 1,
    position: '1' as Position,
    payment,
    reviewsSince: [],
    refundTimes: [],
  };
}

/** New open payments: none is due for two minutes of the index's clock. */
async function writeViews(store: EventStore, count: number, madeAt: number): Promise<void> {
  const view = { ...openView(), updatedAt: madeAt };
  let next = 0;
  const write = async () => {
    for (let number = next++; number < count; number = next++) {
      const token = `pay_${number.toString(36).padStart(26, '0')}`;
      const data = { ...view, token };
      const event = { id: randomUUID(), type: viewWrittenType, data, metadata: {} };
      await store.append(viewStreamOf(streamOf(paymentKind, token)), [event], 'any');
    }
  };
  await Promise.all(Array.from({ length: appendsAtOnce }, write));
}

async function bench(count: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-inquiries-'));
  const store = await createEmbeddedEventStore({ file: join(folder, 'events.db') });
  const madeAt = Date.now();
  await writeViews(store, count, madeAt);
  // The clock stands still until everything is to be due.
  let now = madeAt;
  const clock = { ...systemClock, now: () => now };
  const index = createPaymentIndex({
    file: join(folder, 'index.db'),
    store,
    log: silentLog,
    clock,
    ids: systemIds,
  });
  await index.start();
  say(`${whole(count)} open payments`, '');
  const resident = residentMiB();
  const passing = performance.now();
  for (let pass = 0; pass < passes; pass += 1) index.dueQueues(allShards);
  say('  a pass in which nothing is due', `${((performance.now() - passing) / passes).toFixed(2)} ms`);
  const counting = performance.now();
  for (let pass = 0; pass < passes; pass += 1) index.workload();
  say('  what a scrape counts', `${((performance.now() - counting) / passes).toFixed(2)} ms`);

  let inquired = 0;
  const done = Promise.withResolvers<undefined>();
  const schedule = createInquirySchedule({
    index,
    delays: inquiryDelays,
    quietPeriodMs: 60_000,
    mayAsk: () => true,
    clock,
    log: silentLog,
    inquire: () => {
      inquired += 1;
      if (inquired === count) done.resolve(undefined);
      return Promise.resolve('inquired');
    },
  });
  const stopping = new AbortController();
  const running = allShards.map((shard) => schedule.runShard(shard, stopping.signal));
  now += hourMs;
  const since = performance.now();
  await done.promise;
  say('  all due at once: inquired', `${whole((count * 1_000) / (performance.now() - since))}/s`);
  say('  resident memory before, after', `${whole(resident)}, ${whole(residentMiB())} MiB`);
  stopping.abort();
  await Promise.all(running);
  await index.stop();
  await store.close();
  rmSync(folder, { recursive: true });
}

const most = readCount({ usual: 100_000, least: 1_000 });
await bench(1_000);
await bench(most);
