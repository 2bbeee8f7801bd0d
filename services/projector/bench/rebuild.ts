/**
 * `npm run bench -- projector`: events per second of a rebuild of all views, and views per second of its check, on the embedded
 * store and over EventStoreDB's protocol; its memory; and the time from an append to the index that answers reads.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createEmbeddedEventStore,
  parseConnectionString,
  type EventStore,
  type NewEvent,
} from '@tollgate/event-store';
import { createEventStoreDbStore } from '@tollgate/event-store/eventstoredb';
import { paymentStream } from '@tollgate/core';
import { createPaymentIndex } from '@tollgate/lists';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { readCount } from '@tollgate/testing/bench';
import { createProjector } from '@tollgate/views';
import { compareReadModels } from '../src/compare.ts';
import { rebuild } from '../src/rebuild.ts';

/** The argument with which the bench starts itself to write the events. */
const fillCommand = '--fill';
const eventsPerPayment = 4;
const appendsAtATime = 256;
const delaySamples = 1_000;
const delayEveryMs = 5;

const say = (name: string, figure: string) => process.stdout.write(`  ${name.padEnd(46)} ${figure}\n`);
const rounded = (value: number) => Math.round(value).toLocaleString('en');

const recordedAt = Date.UTC(2026, 0, 2);

/** The events of an approved hosted payment. */
function eventsOf(token: string): NewEvent[] {
  const times = {
    sendBy: recordedAt + 1_000,
    answerBy: recordedAt + 11_000,
    quietUntil: recordedAt + 60_000,
  };
  const attempt = { number: 1, account: 'main', providerOrderNumber: `${token}.1`, ...times };
  const terms = { kind: 'hosted', product: 'Tea', amount: 1_250, currency: 'EUR', needConfirmation: false };
  const events = [
    {
      type: 'PaymentRequested',
      data: {
        environment: 'sandbox',
        team: 'shop',
        wallet: 'team-shop',
        askedBy: 'k1',
        terms,
        fingerprint: token,
        attempt,
      },
    },
    {
      type: 'AttemptAccepted',
      data: {
        attemptNumber: 1,
        serviceToken: `service-${token}`,
        evidence: 'answer',
        processingUrl: `https://pay.example/checkout/${token}`,
      },
    },
    { type: 'PaymentPending', data: {} },
    { type: 'PaymentApproved', data: { amount: 1_250, sanitizedMask: '439296******1251' } },
  ];
  const metadata = {
    schemaVersion: 1,
    correlationId: token,
    causationId: token,
    recordedAt,
    actor: { kind: 'team', team: 'shop', keyId: 'k1' },
  };
  return events.map((event) => ({ id: systemIds.uuid(), ...event, metadata }));
}

/** Payments overlap as in production: the events of one are interleaved with those of others. */
async function writePayments(store: EventStore, payments: number): Promise<void> {
  for (let first = 0; first < payments; first += appendsAtATime) {
    const tokens = Array.from(
      { length: Math.min(appendsAtATime, payments - first) },
      (_, index) => `pay_${first + index}`,
    );
    const histories = tokens.map((token) => ({ token, events: eventsOf(token) }));
    for (let revision = 0; revision < eventsPerPayment; revision += 1)
      await Promise.all(
        histories.map(({ token, events }) =>
          store.append(
            paymentStream(token),
            events.slice(revision, revision + 1),
            revision === 0 ? 'no-stream' : revision - 1,
          ),
        ),
      );
  }
}

const mebibytes = () => process.memoryUsage().rss / 1024 ** 2;

async function measureRebuild(store: EventStore, events: number): Promise<void> {
  const memoryBefore = mebibytes();
  let memoryMax = memoryBefore;
  const inquiring = setInterval(() => (memoryMax = Math.max(memoryMax, mebibytes())), 50);
  const begunAt = performance.now();
  const cpuBefore = process.cpuUsage();
  await rebuild({
    store,
    clock: systemClock,
    ids: systemIds,
    log: silentLog,
    signal: new AbortController().signal,
  });
  const seconds = (performance.now() - begunAt) / 1_000;
  const { user, system } = process.cpuUsage(cpuBefore);
  clearInterval(inquiring);
  say('rebuild', `${rounded(events / seconds)} events/s (${rounded(events)} events)`);
  say('processor time of it, all threads', `${((user + system) / events).toFixed(1)} µs an event`);
  say('resident memory before and at the most', `${rounded(memoryBefore)} and ${rounded(memoryMax)} MiB`);
}

async function measureCheck(store: EventStore): Promise<void> {
  const begunAt = performance.now();
  const cpuBefore = process.cpuUsage();
  const { views, differing } = await compareReadModels({ store, signal: new AbortController().signal });
  const seconds = (performance.now() - begunAt) / 1_000;
  const { user, system } = process.cpuUsage(cpuBefore);
  if (differing.length > 0) throw new Error('views differ from their events');
  say(
    'rebuild --check',
    `${rounded(views / seconds)} views/s, ${((user + system) / views).toFixed(0)} µs of CPU each`,
  );
}

async function measureDelay(store: EventStore, file: string): Promise<void> {
  const ending = new AbortController();
  const parts = { store, clock: systemClock, ids: systemIds, log: silentLog };
  const index = createPaymentIndex({ ...parts, file });
  const running = createProjector(parts).run(ending.signal);
  await index.start();
  const delays: number[] = [];
  for (let sample = 0; sample < delaySamples; sample += 1) {
    const begunAt = performance.now();
    const [event] = eventsOf(`pay_delay_${sample}`);
    if (event === undefined) return;
    const answer = await store.append(paymentStream(`pay_delay_${sample}`), [event], 'no-stream');
    if (answer.kind === 'conflict') throw new Error('a new payment exists already');
    if (!(await index.waitFor(answer.position, 30_000))) throw new Error('it never became readable');
    delays.push(performance.now() - begunAt);
    await systemClock.sleep(delayEveryMs);
  }
  ending.abort();
  await Promise.all([running, index.stop()]);
  delays.sort((one, other) => one - other);
  const at = (share: number) => `${(delays[Math.floor(delays.length * share)] ?? 0).toFixed(1)} ms`;
  say('append, until it is readable, p50 / p99', `${at(0.5)} / ${at(0.99)}`);
}

/** In its own process, so that its memory is not counted as the rebuild's. */
function fillElsewhere(file: string, payments: number): void {
  const { status } = spawnSync(
    process.execPath,
    [import.meta.filename, fillCommand, file, String(payments)],
    {
      stdio: 'inherit',
    },
  );
  if (status !== 0) throw new Error('the events were not written');
}

async function fill(file: string, payments: number): Promise<void> {
  const store = await createEmbeddedEventStore({ file });
  await writePayments(store, payments);
  await store.close();
}

async function measure(payments: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'projector-bench-'));
  try {
    const file = join(directory, 'events.db');
    fillElsewhere(file, payments);
    const store = await createEmbeddedEventStore({ file });
    await measureRebuild(store, payments * eventsPerPayment);
    await measureCheck(store);
    await measureDelay(store, join(directory, 'index.db'));
    await store.close();
    await measureServed(directory, payments);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Over EventStoreDB's protocol: the test server, on the same events, or the empty server that EVENTSTORE_URL names. */
async function measureServed(directory: string, payments: number): Promise<void> {
  const given = process.env['EVENTSTORE_URL'];
  const server = given === undefined ? await startServer(directory) : undefined;
  const { hosts, discovers } = parseConnectionString(given ?? server?.url ?? '', 'EVENTSTORE_URL');
  const connection = { hosts, discovers, tls: false } as const;
  const store = await createEventStoreDbStore({ connection, clock: systemClock, log: silentLog });
  if (given !== undefined) await writePayments(store, payments);
  say("over EventStoreDB's protocol", given === undefined ? 'on the test server' : 'on EVENTSTORE_URL');
  await measureRebuild(store, payments * eventsPerPayment);
  await measureCheck(store);
  await store.close();
  server?.child.kill();
}

async function startServer(directory: string) {
  renameSync(join(directory, 'events.db'), join(directory, 'eventstoredb.db'));
  const program = join(
    import.meta.dirname,
    '../../../libs/event-store/src/testing/eventstoredb-server/main.ts',
  );
  const child = spawn(process.execPath, [program, '--data-dir', directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, url: String(url).trim() };
}

const [command, file = '', count] = process.argv.slice(2);
await (command === fillCommand
  ? fill(file, Number(count))
  : measure(readCount({ usual: 100_000, least: 10 })));
