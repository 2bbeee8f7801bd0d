/**
 * The last use of a key, to the hour (stream `key-use-<team>.<keyId>`, of which the last event is kept). At most one event per
 * key and hour, from any process; a failed write is repeated later, and delays nothing.
 */
import { type EventStore, type RecordedEvent, readLast } from '@tollgate/event-store';
import { type Clock, type Ids, type Log, hourMs } from '@tollgate/service-kit';
import { z } from 'zod';

export interface KeyName {
  team: string;
  keyId: string;
}

const writeEveryMs = 5_000;

const keyUseStream = ({ team, keyId }: KeyName): string => `key-use-${team}.${keyId}`;

export function createKeyUse(deps: { store: EventStore; clock: Clock; ids: Ids; log: Log }) {
  const { store, clock, ids, log } = deps;
  const noted = new Map<string, number>();
  const waiting = new Map<string, number>();

  async function write(stream: string, hour: number): Promise<void> {
    const last = await readLast(store, stream);
    if (last !== undefined && hourOf(last) >= hour) return;
    const metadata = { schemaVersion: 1, recordedAt: clock.now() };
    const event = { id: ids.uuid(), type: 'KeyUsed', data: { hour }, metadata };
    // On a conflict another process has written the same.
    await store.append(stream, [event], last?.revision ?? 'no-stream', { keepLast: 1 });
  }

  async function writeAll(): Promise<void> {
    for (const [stream, hour] of [...waiting]) {
      await write(stream, hour);
      if (waiting.get(stream) === hour) waiting.delete(stream);
    }
  }

  const writeOrTell = () =>
    writeAll().catch((error: unknown) =>
      log.warn({ error, count: waiting.size }, 'the use of keys cannot be written; retrying'),
    );

  return {
    note(key: KeyName): void {
      const hour = Math.floor(clock.now() / hourMs) * hourMs;
      const stream = keyUseStream(key);
      if (noted.get(stream) === hour) return;
      noted.set(stream, hour);
      waiting.set(stream, hour);
    },
    /** Writes noted uses until the signal is aborted and the rest is written. Never rejects. */
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        await clock.sleep(writeEveryMs, signal).catch(() => undefined);
        await writeOrTell();
      }
    },
  };
}

/** Start of the hour of its last use, milliseconds since the Unix epoch; undefined for never. */
export async function lastUseOf(store: Pick<EventStore, 'read'>, key: KeyName): Promise<number | undefined> {
  const last = await readLast(store, keyUseStream(key));
  return last === undefined ? undefined : hourOf(last);
}

const hourOf = ({ data }: RecordedEvent): number => z.object({ hour: z.int() }).parse(data).hour;
