import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { beginning, type EventStore, type RecordedEvent } from '../event-store.ts';
import { givenEvents, readAll } from '../testing/given-events.ts';
import { probe } from '../testing/subscription-probe.ts';
import { temporaryFile, threadedStore } from '../testing/temporary-store.ts';

const fixture = fileURLToPath(new URL('./writer-process.fixture.ts', import.meta.url));

interface Acknowledged {
  stream: string;
  revision: number;
  id: string;
}

type WriterProcess = ChildProcessByStdio<null, Readable, null>;

function startWriter(
  file: string,
  name: string,
  counts: { streams: number; appends: number },
): WriterProcess {
  const args = [fixture, file, name, String(counts.streams), String(counts.appends)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** Reads a writer's acknowledgements, and kills it after `killAfter` of them. */
async function acknowledgedBy(child: WriterProcess, killAfter = Infinity): Promise<Acknowledged[]> {
  const acknowledged: Acknowledged[] = [];
  for await (const line of createInterface(child.stdout)) {
    const [stream, revision, id] = line.split(' ');
    // The last line may be cut off by the kill.
    if (stream !== undefined && id?.length === 36)
      acknowledged.push({ stream, revision: Number(revision), id });
    if (acknowledged.length === killAfter) child.kill('SIGKILL');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return acknowledged;
}

async function readStreams(
  store: EventStore,
  names: Iterable<string>,
): Promise<Map<string, RecordedEvent[]>> {
  const streams = new Map<string, RecordedEvent[]>();
  for (const name of new Set(names)) streams.set(name, await readAll(store, name));
  return streams;
}

describe('a process that is killed while it appends', () => {
  it('leaves every acknowledged append in the file, and no gap in a stream', async () => {
    const file = await temporaryFile();
    const acknowledged: Acknowledged[] = [];
    for (let round = 0; round < 3; round += 1) {
      const child = startWriter(file, 'crashed', { streams: 60, appends: 100_000 });
      acknowledged.push(...(await acknowledgedBy(child, 50 + Math.floor(Math.random() * 4_000))));
      expect(child.signalCode).toBe('SIGKILL');
    }
    const store = await threadedStore({ file });
    const streams = await readStreams(
      store,
      acknowledged.map(({ stream }) => stream),
    );
    const lost = acknowledged.filter(
      ({ stream, revision, id }) => streams.get(stream)?.[revision]?.id !== id,
    );
    expect(lost).toEqual([]);
    for (const events of streams.values())
      expect(events.map(({ revision }) => revision)).toEqual([...events.keys()]);
    expect(await store.append('crashed-0', givenEvents(1), 'any')).toMatchObject({ kind: 'appended' });
  });
});

describe('two processes that write one file', () => {
  it('are seen by a subscription of either, each event once and in order', async () => {
    const file = await temporaryFile();
    const store = await threadedStore({ file });
    const subscription = probe(store, { prefixes: ['theirs-', 'ours-'], from: beginning });
    const child = startWriter(file, 'theirs', { streams: 5, appends: 100 });
    const theirs = acknowledgedBy(child);
    let count = 0;
    while (child.exitCode === null) {
      await Promise.all([1, 2, 3].map((each) => store.append(`ours-${each}`, givenEvents(2), 'any')));
      count += 6;
    }
    count += (await theirs).length;
    await expect.poll(() => subscription.events().length, { timeout: 30_000, interval: 5 }).toBe(count);
    await subscription.stop();
    const positions = subscription.events().map(({ position }) => position);
    expect(positions.toSorted()).toEqual(positions);
    const streams = Map.groupBy(subscription.events(), ({ stream }) => stream);
    expect(streams.size).toBe(8);
    for (const events of streams.values())
      expect(events.map(({ revision }) => revision)).toEqual([...events.keys()]);
    expect(new Set(positions).size).toBe(count);
  });
});
