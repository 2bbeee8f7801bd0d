import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  createEmbeddedEventStore,
  type EmbeddedEventStore,
  type EmbeddedEventStoreOptions,
} from '../embedded/embedded-event-store.ts';

/** A path in a new directory that goes away with the running test. */
export async function temporaryFile(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'event-store-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return join(directory, 'events.db');
}

/** Opens an embedded store that is closed at the end of the running test, in a file of its own by default. */
export async function temporaryStore(
  options: Partial<EmbeddedEventStoreOptions> = {},
): Promise<EmbeddedEventStore> {
  const store = await createEmbeddedEventStore({ file: options.file ?? (await temporaryFile()), ...options });
  onTestFinished(() => store.close());
  return store;
}
