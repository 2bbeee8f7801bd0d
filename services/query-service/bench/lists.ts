/**
 * `npm run bench -- lists`: the time and memory to build the index from the events, and the time for a page of each list. The
 * events are written into an embedded event store first.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createEmbeddedEventStore, type EventStore } from '@tollgate/event-store';
import { createPaymentIndex, type PaymentIndex, type Listing } from '@tollgate/lists';
import { silentLog, systemClock, systemIds, dayMs } from '@tollgate/service-kit';
import { readCount } from '@tollgate/testing/bench';
import { changeOf, countOf, eventsAt, teamOfBench, tokenAt, yearStartedAt } from './events.ts';

const pagesPerQuery = 200;
const appendsAtOnce = 500;
/** Every n-th payment is changed after the build. */
const changedEvery = 20;

const whole = (value: number) => Math.round(value).toLocaleString('en');
const say = (name: string, figure: string) => process.stdout.write(`  ${name.padEnd(58)} ${figure}\n`);
const perSecond = (count: number, sinceMs: number) =>
  `${whole((count * 1000) / (performance.now() - sinceMs))}/s`;
const residentMiB = () => process.memoryUsage().rss / 1_048_576;

async function writeEvents(store: EventStore, count: number): Promise<number> {
  let [next, events] = [0, 0];
  const write = async () => {
    for (let number = next; number < count; number = next) {
      next += 1;
      const [stream, history] = eventsAt(number, count);
      events += history.length;
      await store.append(stream, history, 'no-stream');
    }
  };
  await Promise.all(Array.from({ length: appendsAtOnce }, write));
  return events;
}

/** The whole index out of the events, as a new replica does it. */
async function build(store: EventStore, file: string, count: number): Promise<PaymentIndex> {
  const index = createPaymentIndex({ file, store, log: silentLog, clock: systemClock, ids: systemIds });
  const delay = monitorEventLoopDelay({ resolution: 5 });
  globalThis.gc?.();
  const residentBefore = residentMiB();
  let residentMost = residentBefore;
  const timer = setInterval(() => (residentMost = Math.max(residentMost, residentMiB())), 50);
  delay.enable();
  const since = performance.now();
  const processorSince = processorMs();
  await index.start();
  clearInterval(timer);
  const processor = processorMs() - processorSince;
  say(
    'index built from events, payments',
    `${whole(performance.now() - since)} ms, ${perSecond(count, since)}`,
  );
  say('  on the processor', `${whole(processor)} ms, ${whole((count * 1000) / processor)}/s`);
  say('  file', `${whole(statSync(file).size / 1_048_576)} MiB`);
  say('  resident memory before, most', `${whole(residentBefore)}, ${whole(residentMost)} MiB`);
  say(
    '  event loop held up, p99 and most',
    `${whole(delay.percentile(99) / 1e6)} and ${whole(delay.max / 1e6)} ms`,
  );
  return index;
}

async function change(store: EventStore, index: PaymentIndex, count: number): Promise<void> {
  const tokens = Array.from({ length: Math.floor(count / changedEvery) }, (_, place) =>
    tokenAt(place * changedEvery),
  );
  await Promise.all(tokens.map((token) => store.append(`payment-${token}`, [changeOf(token)], 'any')));
  const since = performance.now();
  await index.waitFor(await store.head(), 60_000);
  say(
    `${whole(tokens.length)} payments changed; the rest followed in`,
    `${whole(performance.now() - since)} ms`,
  );
}

type Query = Omit<Listing<never>, 'accepts'>;
const shop = { owners: [teamOfBench], perPage: 20 } as const;

/** The queries, by their names in the table. */
const queries: Readonly<Record<string, Partial<Query>>> = {
  'no filter': {},
  'status=approved': { status: 'approved' },
  'status=declined (two phases)': { status: 'declined' },
  'status=pending (four phases)': { status: 'pending' },
  'phase=failed (1 in 2,000)': { phase: 'failed' },
  'currency=EUR': { currency: 'EUR' },
  'currency=JPY (1 in 1,000)': { currency: 'JPY' },
  'status=declined&currency=JPY (rare together)': { status: 'declined', currency: 'JPY' },
  'phase=failed&currency=JPY (none)': { phase: 'failed', currency: 'JPY' },
  'status=approved&phase=failed (never)': { status: 'approved', phase: 'failed' },
  'orderNumber (one)': { orderNumber: 'order-80' },
  'orderNumber of 1 in 10, status=declined&currency=JPY': {
    orderNumber: 'again',
    status: 'declined',
    currency: 'JPY',
  },
  'orderNumber of 1 in 10, needsReview=true': { orderNumber: 'again', needsReview: true },
  'needsReview=true (1 in 500)': { needsReview: true },
  'needsReview=true&status=declined&currency=JPY': {
    needsReview: true,
    status: 'declined',
    currency: 'JPY',
  },
  'needsReview=false': { needsReview: false },
  'needsReview=false&status=pending': { needsReview: false, status: 'pending' },
  'needsReview=false&currency=JPY&status=declined': {
    needsReview: false,
    currency: 'JPY',
    status: 'declined',
  },
  'dateFrom, dateTo: a day in the middle': {
    createdFrom: yearStartedAt + 180 * dayMs,
    createdBefore: yearStartedAt + 181 * dayMs,
  },
  'a day in the middle, status=declined&currency=JPY': {
    createdFrom: yearStartedAt + 180 * dayMs,
    createdBefore: yearStartedAt + 181 * dayMs,
    status: 'declined',
    currency: 'JPY',
  },
  'a day in the middle, needsReview=false': {
    createdFrom: yearStartedAt + 180 * dayMs,
    createdBefore: yearStartedAt + 181 * dayMs,
    needsReview: false,
  },
};

interface Took {
  ms: number;
  /** Of the processor: on a busy machine the rest was waiting for it. */
  processorMs: number;
}

function printRow(name: string, took: readonly Took[], rows: number | string): void {
  const at = (values: number[], share: number) =>
    (values.sort((a, b) => a - b)[Math.floor(values.length * share)] ?? 0).toFixed(2).padStart(9);
  const times = took.map(({ ms }) => ms);
  const processor = took.map(({ processorMs }) => processorMs);
  process.stdout.write(
    `  ${name.padEnd(58)}${at(times, 0.5)}${at(times, 0.99)}${at(processor, 0.5)}${at(processor, 0.99)}  ${rows}\n`,
  );
}

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function page(index: PaymentIndex, query: Query, operations = false) {
  const since = performance.now();
  const processorSince = processorMs();
  const list = operations ? index.listOperations(query) : index.listPayments(query);
  const took = { processorMs: processorMs() - processorSince, ms: performance.now() - since };
  if (list.kind !== 'page') throw new Error(`${list.parameter} was refused`);
  return { took, list };
}

/** The same page repeatedly: the first read may come from the disk. */
function measure(index: PaymentIndex, name: string, query: Query, operations = false): void {
  const times: Took[] = [];
  let rows = 0;
  for (let run = 0; run < pagesPerQuery; run += 1) {
    const { took, list } = page(index, query, operations);
    times.push(took);
    rows = list.views.length;
  }
  printRow(name, times, rows);
}

/** One page after another: every one is read for the first time. */
function measureCursors(index: PaymentIndex, name: string, query: Query): void {
  const times: Took[] = [];
  let cursor: string | undefined;
  do {
    const { took, list } = page(index, { ...query, ...(cursor === undefined ? {} : { cursor }) });
    times.push(took);
    cursor = list.nextCursor;
  } while (cursor !== undefined && times.length < 2_000);
  printRow(name, times, `${times.length} pages`);
}

function measureAll(index: PaymentIndex): void {
  process.stdout.write(
    `\n  ${'a page of 20 unless said otherwise, ms'.padEnd(58)}      p50      p99  CPU p50  CPU p99  rows\n`,
  );
  for (const [name, filter] of Object.entries(queries)) measure(index, name, { ...shop, ...filter });
  measure(index, 'operationType=all', shop, true);
  measure(index, 'operationType=all&status=pending', { ...shop, status: 'pending' }, true);
  measure(index, 'perPage=500', { ...shop, perPage: 500 });
  measure(index, 'withTotal=true (counted up to 100,000)', { ...shop, withTotal: true });
  measureCursors(index, 'cursors on and on, perPage=500', { ...shop, perPage: 500 });
  measureCursors(index, 'cursors on and on, status=declined', { ...shop, status: 'declined' });
  measureCursors(index, 'cursors on and on, needsReview=false', { ...shop, needsReview: false });
  measureCursors(index, 'cursors on and on, dateTo in the middle', {
    ...shop,
    createdBefore: yearStartedAt + 180 * dayMs,
  });
}

const count = readCount({ usual: 100_000, least: 1_000 });
const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
try {
  const store = await createEmbeddedEventStore({ file: join(folder, 'events.db') });
  const since = performance.now();
  const events = await writeEvents(store, count);
  say(`${whole(events)} events written into the event store`, perSecond(events, since));
  say('  of them declined in JPY', whole(countOf(count, ['declined', 'failed'], 'JPY')));
  const index = await build(store, join(folder, 'index.db'), count);
  await change(store, index, count);
  measureAll(index);
  await index.stop();
  await store.close();
} finally {
  rmSync(folder, { recursive: true });
}
