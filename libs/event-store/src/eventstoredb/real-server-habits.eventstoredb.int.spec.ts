/** Behavior of real servers that a simple fake does not have, and that caused faults. */
import { setTimeout as delay } from 'node:timers/promises';
import { MaxAppendSizeExceededError, jsonEvent } from '@eventstore/db-client';
import type { Log } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { appendBytesMax } from '../append-arguments.ts';
import { servedStore } from '../testing/eventstoredb-store.ts';
import type { ServerFaults } from '../testing/eventstoredb-server/faults.ts';
import {
  appended,
  freshCategory,
  freshStream,
  givenEvent,
  givenEvents,
  readAll,
  readData,
} from '../testing/given-events.ts';
import { probe } from '../testing/subscription-probe.ts';
import { openLink } from './connection.ts';

vi.setConfig({ testTimeout: 60_000 });

const waiting = { timeout: 20_000, interval: 2 };
const revisionsOf = (subscription: ReturnType<typeof probe>) =>
  subscription.events().map(({ revision }) => revision);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

/** The log, without the entries of intended faults. */
function recordingLog() {
  const warnings: string[] = [];
  const warn: Log['warn'] = (_fields, message) => void warnings.push(message);
  return { warnings, log: { debug: () => undefined, info: () => undefined, warn, error: warn } };
}

describe('the log', () => {
  it('shows events hidden by keepLast, until it is scavenged', async () => {
    const { store, server } = await servedStore();
    const category = freshCategory();
    const stream = `${category}-1`;
    const shown = async () => {
      const subscription = probe(store, { prefixes: [`${category}-`] });
      await subscription.caughtUp(last.position);
      await subscription.stop();
      return revisionsOf(subscription);
    };
    const last = appended(await store.append(stream, givenEvents(9), 'no-stream', { keepLast: 2 }));
    await eventually(async () => expect(await readData(store, stream)).toEqual([7, 8]));
    expect(await shown()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    await server.scavenge();
    expect(await shown()).toEqual([7, 8]);
    const [next] = givenEvents(1);
    expect(await store.append(stream, [next!], 8)).toMatchObject({ revision: 9 });
    expect(await readData(store, stream)).toEqual([8, 0]);
    expect(await shown()).toEqual([7, 8, 9]);
  });

  it('is read to its end past the tombstones of streams that an administrator has deleted', async () => {
    const { store, kept } = await servedStore();
    const category = freshCategory();
    const subscription = probe(store, { prefixes: [`${category}-`] });
    const bury = (number: number) =>
      kept.append(`${category}-${number}`, [{ ...givenEvent(), type: '$streamDeleted' }], 'no-stream');
    await Promise.all(upTo(100).map(bury));
    const { position } = appended(await store.append(freshStream(), givenEvents(1), 'no-stream'));
    await subscription.caughtUp(position);
    await subscription.stop();
    expect(subscription.events()).toEqual([]);
  });
});

describe('a live subscription that lags by 32 events', () => {
  // Each drop was logged as a failure and answered by a pause, 18 times in 20 seconds of load.
  it('is dropped, and resumed at once, without a gap, a duplicate or a warning', async () => {
    const { warnings, log } = recordingLog();
    const { store, server } = await servedStore({ log });
    const category = freshCategory();
    const subscription = probe(store, { prefixes: [`${category}-`] });
    await subscription.caughtUp();
    await store.append(`${category}-1`, givenEvents(100), 'no-stream');
    await expect.poll(() => subscription.events().length, waiting).toBe(100);
    const last = appended(await store.append(`${category}-1`, givenEvents(100), 99));
    await subscription.caughtUp(last.position);
    await subscription.stop();
    expect(revisionsOf(subscription)).toEqual(upTo(200));
    expect(server.subscriptionCount()).toBeGreaterThan(2);
    expect(warnings).toEqual([]);
  });
});

describe('an append', () => {
  it('of more than 1 MiB is refused by the server, and ours are never so large', async () => {
    const { store, server } = await servedStore();
    const connection = { discovers: false, hosts: [{ address: '127.0.0.1', port: server.port }] } as const;
    const link = openLink({ ...connection, tls: false });
    onTestFinished(() => link.close());
    const halves = [1, 2].map(() => jsonEvent({ type: 'Tested', data: { text: 'x'.repeat(525_000) } }));
    const { appendCredentials: credentials } = link;
    const appending = link.client.appendToStream(freshStream(), halves, { credentials });
    await expect(appending).rejects.toThrow(MaxAppendSizeExceededError);
    const largest = givenEvent('x'.repeat(appendBytesMax - 300));
    expect(await store.append(freshStream(), [largest], 'no-stream')).toMatchObject({ kind: 'appended' });
  });

  it('that waits for a disk is written once, however often it was sent', async () => {
    const { store, server } = await servedStore({ appendTryMs: 200 });
    const stream = freshStream();
    let tries = 0;
    server.faults.onAppend = () => void (tries += 1);
    server.faults.writersStalled = delay(800);
    const events = givenEvents(2);
    expect(await store.append(stream, events, 'no-stream')).toMatchObject({ kind: 'appended', revision: 1 });
    expect(await readData(store, stream)).toEqual([0, 1]);
    expect(tries).toBeGreaterThan(1);
  });
});

describe('a server that starts, or whose cluster elects a leader', () => {
  it.each<[ServerFaults['state'], boolean]>([
    ['not-ready', false],
    ['no-leader', false],
    ['not-ready', true],
    ['no-leader', true],
  ])('is waited for: %s, asked for its cluster: %s', async (state, discovers) => {
    const { server, another } = await servedStore();
    server.faults.state = state;
    const settings = { maxDiscoverAttempts: 2, discoveryInterval: 50 };
    const hosts = [1, 2].map(() => ({ address: '127.0.0.1', port: server.port }));
    const connection = { discovers, hosts, tls: false, settings } as const;
    const { log, warnings } = recordingLog();
    const opening = another({ connection, log });
    await expect.poll(() => warnings.join(), waiting).toContain('the event store does not answer yet');
    server.faults.state = 'leading';
    const store = await opening;
    expect(await store.append(freshStream(), givenEvents(1), 'no-stream')).toMatchObject({ revision: 0 });
  });

  it('gets an append again until it is ready, and fails reads in a retryable way', async () => {
    const { store, server } = await servedStore();
    const stream = freshStream();
    await store.append(stream, givenEvents(1), 'no-stream');
    for (const state of ['not-ready', 'no-leader'] as const) {
      server.faults.state = state;
      await expect(readAll(store, stream)).rejects.toMatchObject({ retryable: true });
      server.faults.state = 'leading';
    }
    server.faults.state = 'not-ready';
    const appending = store.append(stream, givenEvents(1), 0);
    await expect.poll(() => store.isReachable(), waiting).toBe(false);
    server.faults.state = 'leading';
    expect(await appending).toMatchObject({ kind: 'appended', revision: 1 });
  });
});

describe('a call that is cut off in the middle', () => {
  // A partial result would be mistaken for everything.
  it('fails a read, in a way that may be repeated', async () => {
    const { store, server } = await servedStore();
    const stream = freshStream();
    await store.append(stream, givenEvents(10), 'no-stream');
    server.faults.callsEndAfter = 4;
    await expect(readAll(store, stream)).rejects.toMatchObject({ retryable: true });
    server.faults.callsEndAfter = undefined;
    expect(await readData(store, stream)).toEqual(upTo(10));
  });

  it('is resumed by a subscription, without a gap and without a duplicate', async () => {
    const { store, server } = await servedStore();
    const category = freshCategory();
    await store.append(`${category}-1`, givenEvents(10), 'no-stream');
    server.faults.callsEndAfter = 4;
    const subscription = probe(store, { prefixes: [`${category}-`] });
    await expect.poll(() => subscription.events().length, waiting).toBe(10);
    server.faults.callsEndAfter = undefined;
    const last = appended(await store.append(`${category}-1`, givenEvents(1), 9));
    await subscription.caughtUp(last.position);
    await subscription.stop();
    expect(revisionsOf(subscription)).toEqual(upTo(11));
    expect(server.subscriptionCount()).toBeGreaterThan(2);
  });
});
