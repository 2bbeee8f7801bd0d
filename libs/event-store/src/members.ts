/** Which processes of one kind are alive, so that they can share out work and limits among themselves. */
import { errorCode, type Clock, type Ids, type Log } from '@tollgate/service-kit';
import { z } from 'zod';
import type { EventStore, RecordedEvent } from './event-store.ts';

const beatMs = 3_000;
/** Three beats and a bit: one that was late is not taken for gone. */
const aliveMs = 10_000;
/** Events of the stream that are kept and read: more than a beat's worth of any company's processes. */
const eventsMax = 256;

/** This process among the living ones, in an order that all of them see alike. */
interface Place {
  /** From 0. */
  rank: number;
  count: number;
}

export interface Members {
  /** Alone until others have been seen. */
  place(): Place;
  /** Tells the others that this process lives, and sees who else does, until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

const beatSchema = z.object({ member: z.string() });

/**
 * Two that see each other at different moments may disagree for a beat: what must never be done twice is guarded by a
 * lease besides. A member counts as alive from when its event was seen, by the reader's own clock.
 *
 * @param options.member unique for each life of a process
 */
export function createMembers(options: {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
  name: string;
  member: string;
}): Members {
  const { store, clock, ids, log, name, member } = options;
  const stream = `members-${name}`;
  const seen = new Map<string, { revision: number; at: number }>();
  let place: Place = { rank: 0, count: 1 };

  // Nothing is expected, so that many can beat at once: a beat that stands twice, or is seen late, says the same.
  async function beat(type: 'MemberLives' | 'MemberLeft'): Promise<void> {
    await store.append(stream, [{ id: ids.uuid(), type, data: { member }, metadata: {} }], 'any');
  }

  async function look(): Promise<void> {
    const now = clock.monotonic();
    const latest = new Map<string, RecordedEvent>();
    for await (const event of store.read(stream, { direction: 'backwards', limit: eventsMax })) {
      const { member: other } = beatSchema.parse(event.data);
      if (!latest.has(other)) latest.set(other, event);
    }
    for (const [other, { revision, recordedAt }] of latest) {
      if (seen.get(other)?.revision === revision) continue;
      // What is met for the first time may have been written long ago; clocks that differ a little do not matter.
      const isOld = !seen.has(other) && clock.now() - recordedAt > 3 * aliveMs;
      seen.set(other, { revision, at: isOld ? -Infinity : now });
    }
    const isAlive = (other: string) =>
      latest.get(other)?.type === 'MemberLives' && now - (seen.get(other)?.at ?? -Infinity) <= aliveMs;
    for (const other of seen.keys()) if (!latest.has(other)) seen.delete(other);
    const living = [...new Set([...[...seen.keys()].filter(isAlive), member])].sort();
    place = { rank: living.indexOf(member), count: living.length };
  }

  return {
    place: () => place,
    async run(signal) {
      await store.keepLast(stream, eventsMax).catch(() => undefined);
      while (!signal.aborted) {
        try {
          await beat('MemberLives');
          await look();
        } catch (error) {
          log.warn({ operation: stream, code: errorCode(error) ?? '', error }, 'who else lives is not known');
        }
        await clock.sleep(beatMs, signal).catch(() => undefined);
      }
      await beat('MemberLeft').catch(() => undefined);
    },
  };
}
