/** Tracks living processes, their readable versions, and how they distribute kinds of work. */
import { errorCode, type Clock, type Ids, type Log } from '@tollgate/service-kit';
import { z } from 'zod';
import type { EventStore, RecordedEvent } from './event-store.ts';
import { createTrouble } from './trouble.ts';

export const membersStream = 'members';

const beatMs = 3_000;
/** Three beats and a bit: one that was late is not mistaken for gone. */
const aliveMs = 10_000;
/** How far a host's wall clock may be from the store's before the host is not ready, milliseconds. */
const clockSkewMaxMs = 30_000;
/** Events of the stream that are kept, and read with each beat: ten seconds of 75 processes. */
const eventsMax = 256;

/** Position of this process among those that share a kind of work, in an order that all of them agree on. */
interface Place {
  /** From 0. */
  rank: number;
  count: number;
}

const memberSchema = z.object({
  /** Unique for each life of a process. */
  member: z.string(),
  /** The release that it runs. */
  release: z.string(),
  /** The newest schema version that it reads. */
  reads: z.int().min(1),
  /** Origin that accepts messages of other processes; absent unless announced. */
  internalUrl: z.string().exactOptional(),
});
export type Member = z.infer<typeof memberSchema>;

const beatSchema = memberSchema.extend({ shares: z.array(z.string()) });
type Beat = z.infer<typeof beatSchema>;

export interface MembersOptions {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  log: Log;
  self: Member;
}

/**
 * Two that see each other at different moments may disagree for a heartbeat: work that must never be done twice also needs a
 * lease. A member counts as alive from the sight of its event, by the reader's own clock.
 */
export function createMembers({ store, clock, ids, log, self }: MembersOptions) {
  const others = createSeen(store, clock, self.member);
  let isClockWrong = false;
  const shares = new Map<string, number>();
  let announced: Pick<Member, 'internalUrl'> = {};
  const trouble = createTrouble(log, {
    failing: 'the other members are not known',
    over: 'the other members are known again',
  });
  /** Ends the pause between two beats. */
  let beatSoon = () => {};

  // Without an expected revision, so that many can send heartbeats concurrently: a duplicate or late one does no harm.
  const record = (type: 'MemberLives' | 'MemberLeft') =>
    store.append(
      membersStream,
      [{ id: ids.uuid(), type, data: { ...self, ...announced, shares: sharesOf(shares) }, metadata: {} }],
      'any',
      { keepLast: eventsMax },
    );

  function take(work: string, step: 1 | -1): void {
    shares.set(work, (shares.get(work) ?? 0) + step);
    beatSoon();
  }

  async function beat(): Promise<void> {
    const before = clock.now();
    await record('MemberLives');
    const after = clock.now();
    await others.look();
    const recordedAt = others.ownRecordedAt() ?? after;
    isClockWrong = before - recordedAt > clockSkewMaxMs || recordedAt - after > clockSkewMaxMs;
  }

  async function pause(signal: AbortSignal): Promise<void> {
    const soon = new AbortController();
    beatSoon = () => soon.abort();
    await clock.sleep(beatMs, AbortSignal.any([signal, soon.signal])).catch(() => undefined);
  }

  return {
    /**
     * Announces to the others that this process is alive, and finds the others.
     *
     * @throws StoreUnavailable
     */
    beat,
    /** True while the wall clock of this process is too far from the store's, which recorded its last heartbeat. */
    isClockWrong: (): boolean => isClockWrong,
    /** The living members as far as known, including this one. */
    living: (): readonly Member[] => [self, ...others.living()],
    /** Members that share that work, including this one. Alone until others have been seen. */
    place(work: string): Place {
      const sharing = others.living().filter((other) => other.shares.includes(work));
      const all = [...sharing.map(({ member }) => member), self.member].sort();
      return { rank: all.indexOf(self.member), count: all.length };
    },
    /** Takes a share in that work until the signal is aborted. */
    async share(work: string, signal: AbortSignal): Promise<void> {
      take(work, 1);
      await untilAborted(signal);
      take(work, -1);
    },
    /** Sends the others the origin at which this process accepts their messages. */
    announce(internalUrl: string): void {
      announced = { internalUrl };
      beatSoon();
    },
    /** Beats every three seconds until the signal is aborted; the first beat is the caller's. */
    async run(signal: AbortSignal): Promise<void> {
      for (;;) {
        await pause(signal);
        if (signal.aborted) break;
        await beat().then(trouble.worked, (error: unknown) =>
          trouble.failed({ operation: membersStream, code: errorCode(error) ?? '', error }),
        );
      }
      await record('MemberLeft').catch(() => undefined);
    },
  };
}

/** Members with recent heartbeats, as seen by a non-member. @throws StoreUnavailable */
export async function livingMembers(store: EventStore, clock: Clock): Promise<readonly Beat[]> {
  const seen = createSeen(store, clock, '');
  await seen.look();
  return seen.living();
}

const sharesOf = (shares: ReadonlyMap<string, number>): string[] =>
  [...shares].filter(([, count]) => count > 0).map(([work]) => work);

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Last heartbeats seen, with times. */
function createSeen(store: EventStore, clock: Clock, self: string) {
  let seen = new Map<string, { revision: number; at: number }>();
  let ownRecordedAt: number | undefined;
  // As it was at the last look: while the store does not answer, no member counts as gone.
  let living: readonly Beat[] = [];

  return {
    async look(): Promise<void> {
      const latest = await latestBeats(store);
      ownRecordedAt = latest.get(self)?.event.recordedAt;
      latest.delete(self);
      const now = clock.monotonic();
      const storeTime = ownRecordedAt ?? clock.now();
      const next: typeof seen = new Map();
      const alive: Beat[] = [];
      for (const [member, { beat, event }] of latest) {
        const known = seen.get(member);
        // A beat that is read for the first time may have been written long ago.
        const isOld = known === undefined && storeTime - event.recordedAt > 3 * aliveMs;
        const isSame = known?.revision === event.revision;
        const at = isSame ? known.at : isOld ? -Infinity : now;
        next.set(member, { revision: event.revision, at });
        if (event.type === 'MemberLives' && now - at <= aliveMs) alive.push(beat);
      }
      [seen, living] = [next, alive];
    },
    living: () => living,
    ownRecordedAt: () => ownRecordedAt,
  };
}

async function latestBeats(store: EventStore): Promise<Map<string, { beat: Beat; event: RecordedEvent }>> {
  const latest = new Map<string, { beat: Beat; event: RecordedEvent }>();
  for await (const event of store.read(membersStream, { direction: 'backwards', limit: eventsMax })) {
    const beat = beatSchema.safeParse(event.data).data;
    if (beat !== undefined && !latest.has(beat.member)) latest.set(beat.member, { beat, event });
  }
  return latest;
}
