/**
 * `npm run bench -- webhooks`: webhooks recorded and delivered per second by one notifier, and the CPU time of each, with
 * receivers that answer at once. Each webhook is due in the store before the notifier begins.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker, isMainThread, parentPort } from 'node:worker_threads';
import { type EventStore, createEmbeddedEventStore } from '@tollgate/event-store';
import { openDeliveries } from '../src/deliveries.ts';
import { runNotifier } from '../src/notifier.ts';
import { type PaymentEvent, paymentStream } from '@tollgate/core';
import { parseWebhookSecrets, silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { readCount } from '@tollgate/testing/bench';

/** Each of its own team: concurrent sends of a notifier are limited by team and origin. */
const receivers = 16;
const appendsAtOnce = 64;

/** On its own thread: the receivers' cost is not the notifier's. Reports their address and count. */
async function receive(): Promise<void> {
  const received = new Set<string>();
  const servers = Array.from({ length: receivers }, () =>
    createServer((incoming, answer) => {
      received.add(String(incoming.headers['webhook-id']));
      incoming.resume().on('end', () => answer.writeHead(204).end());
    }),
  );
  const ports = await Promise.all(servers.map(listening));
  parentPort?.postMessage(ports);
  parentPort?.on('message', () => parentPort?.postMessage(received.size));
}

const listening = (server: Server) =>
  new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  );

function historyOf(port: number): PaymentEvent[] {
  const window = { sendBy: 1, answerBy: 2, quietUntil: 3 };
  return [
    {
      type: 'PaymentRequested',
      data: {
        environment: 'sandbox',
        team: `team-${port}`,
        wallet: `team-team-${port}`,
        askedBy: 'k1',
        fingerprint: 'f',
        terms: {
          kind: 'hosted',
          product: 'Tea',
          amount: 1250,
          currency: 'EUR',
          needConfirmation: false,
          callbackUrl: `http://127.0.0.1:${port}/webhooks`,
        },
        attempt: { number: 1, account: 'main', providerOrderNumber: 'order.1', ...window },
      },
    },
    {
      type: 'AttemptAccepted',
      data: {
        attemptNumber: 1,
        serviceToken: 'a'.repeat(32),
        evidence: 'answer',
        processingUrl: 'https://pay.example/1',
      },
    },
    { type: 'PaymentApproved', data: { amount: 1250, sanitizedMask: '439296******1251' } },
  ];
}

async function append(store: EventStore, token: string, port: number): Promise<void> {
  const metadata = {
    schemaVersion: 1,
    correlationId: 'c',
    causationId: 'c',
    recordedAt: Date.now(),
    actor: { kind: 'service', name: 'bench' },
  };
  const events = historyOf(port).map((event) => ({ ...event, id: systemIds.uuid(), metadata }));
  await store.append(paymentStream(token), events, 'no-stream');
}

async function measure(count: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
  const receiving = new Worker(new URL(import.meta.url));
  const answerOf = <Answer>() => new Promise<Answer>((resolve) => receiving.once('message', resolve));
  const ports = await answerOf<number[]>();
  const receivedCount = async (): Promise<number> => {
    const answer = answerOf<number>();
    receiving.postMessage('how many');
    return answer;
  };
  const store = await createEmbeddedEventStore({ file: join(folder, 'events.db'), log: silentLog });
  for (let from = 0; from < count; from += appendsAtOnce) {
    const numbers = Array.from({ length: Math.min(appendsAtOnce, count - from) }, (_, index) => from + index);
    await Promise.all(
      numbers.map((number) => append(store, `pay_${number}`, ports[number % receivers] ?? 0)),
    );
  }
  const stopping = new AbortController();
  const [since, before] = [performance.now(), process.threadCpuUsage()];
  const deps = { store, clock: systemClock, ids: systemIds, log: silentLog };
  const deliveries = openDeliveries({ ...deps, file: ':memory:', retentionMs: 86_400_000 });
  const secrets = parseWebhookSecrets(`k1:${'s'.repeat(32)}`);
  const running = runNotifier(
    { ...deps, deliveries, secrets, isCallbackAllowed: () => true },
    stopping.signal,
  );
  while ((await receivedCount()) < count) await systemClock.sleep(20);
  const seconds = (performance.now() - since) / 1_000;
  const { user, system } = process.threadCpuUsage(before);
  const perSecond = Math.round(count / seconds).toLocaleString('en');
  const cpuMs = (user + system) / 1_000 / count;
  process.stdout.write(`  webhooks recorded and delivered                ${perSecond}/s\n`);
  process.stdout.write(`  processor of the notifier's thread for each    ${cpuMs.toFixed(2)} ms\n`);
  stopping.abort();
  await running;
  await deliveries.stop();
  await store.close();
  await receiving.terminate();
  rmSync(folder, { recursive: true });
}

if (isMainThread) await measure(readCount({ usual: 10_000, least: 100 }));
else await receive();
