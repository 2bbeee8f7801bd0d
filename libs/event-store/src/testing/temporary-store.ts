import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { onTestFinished } from 'vitest';
import {
  createEmbeddedEventStore,
  type EmbeddedEventStore,
  type EmbeddedEventStoreOptions,
} from '../embedded/embedded-event-store.ts';
import type { ToWriter } from '../embedded/writer-protocol.ts';
import { serveCommits } from '../embedded/serve-commits.ts';

/** A path in a new directory that is deleted after the running test. */
export async function temporaryFile(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'event-store-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return join(directory, 'events.db');
}

/** An embedded store whose writer runs in this thread: starting a thread costs more CPU than most specs. */
export async function openStoreInThread(
  options: Omit<EmbeddedEventStoreOptions, 'connection' | 'testing'>,
): Promise<EmbeddedEventStore> {
  const [host, own] = [new MessageChannel(), new MessageChannel()];
  serveCommits(host.port1, { file: options.file });
  const send = (message: ToWriter) =>
    host.port2.postMessage(message, 'port' in message ? [message.port] : []);
  send({ kind: 'connect', port: own.port1 });
  const store = await createEmbeddedEventStore({ ...options, connection: own.port2 });
  let closed: Promise<void> | undefined;
  const close = async () => {
    await store.close();
    const ended = once(host.port1, 'close');
    send({ kind: 'stop' });
    await ended;
  };
  return { ...store, close: () => (closed ??= close()) };
}

/** Opens such a store, which is closed at the end of the running test, in its own file by default. */
export async function temporaryStore(
  options: Partial<Omit<EmbeddedEventStoreOptions, 'connection' | 'testing'>> = {},
): Promise<EmbeddedEventStore> {
  const store = await openStoreInThread({ ...options, file: options.file ?? (await temporaryFile()) });
  onTestFinished(() => store.close());
  return store;
}

/** The same with a writer thread, as it runs in production: for the specs of the store itself. */
export async function threadedStore(
  options: Partial<EmbeddedEventStoreOptions> = {},
): Promise<EmbeddedEventStore> {
  const store = await createEmbeddedEventStore({ ...options, file: options.file ?? (await temporaryFile()) });
  onTestFinished(() => store.close());
  return store;
}
