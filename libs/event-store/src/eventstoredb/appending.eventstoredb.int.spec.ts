import { createFakeClock } from '@tollgate/testing';
import { describe, expect, it, vi } from 'vitest';
import { InvalidArgument, StoreUnavailable } from '../errors.ts';
import { hideNext, hurried, servedStore } from '../testing/eventstoredb-store.ts';
import type { AppendFault, ReceivedAppend } from '../testing/eventstoredb-server/faults.ts';
import {
  appended,
  freshStream,
  givenEvent,
  givenEvents,
  readAll,
  readData,
} from '../testing/given-events.ts';
import { appendTriesMax } from './appender.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Fails the first appends as requested, and records all of them. */
function failing(faults: (AppendFault | undefined)[]): {
  received: ReceivedAppend[];
  onAppend: (append: ReceivedAppend) => AppendFault | undefined;
} {
  const received: ReceivedAppend[] = [];
  return { received, onAppend: (append) => faults[received.push(append) - 1] };
}

describe('an append with an unknown outcome', () => {
  it.each<AppendFault['kind']>(['silent', 'answer-lost', 'reset'])(
    'is sent again with the same ids and the same expectation: %s',
    async (kind) => {
      const { store, server } = await servedStore({ appendTryMs: 300 });
      const stream = freshStream();
      await store.append(stream, givenEvents(1), 'no-stream');
      const { received, onAppend } = failing([{ kind } as AppendFault]);
      server.faults.onAppend = onAppend;
      const events = givenEvents(2);
      const answer = appended(await store.append(stream, events, 0));
      expect(answer).toMatchObject({ revision: 2 });
      expect(new Set(received.map((each) => JSON.stringify(each))).size).toBe(1);
      expect(received[0]).toMatchObject({ expected: '0', eventIds: events.map(({ id }) => id) });
      const recorded = await readAll(store, stream);
      expect(recorded.map((event) => event.data)).toEqual([0, 0, 1]);
      expect(recorded.at(-1)?.position).toBe(answer.position);
    },
  );

  it('is abandoned after four tries, by our clock, and reported as retryable', async () => {
    const clock = createFakeClock();
    const { store, server } = await servedStore({ clock, appendTryMs: 5_000 });
    const { received, onAppend } = failing(Array.from({ length: 9 }, () => ({ kind: 'silent' as const })));
    server.faults.onAppend = onAppend;
    let outcome: unknown;
    const appending = store.append(freshStream(), givenEvents(1), 'no-stream').catch((error: unknown) => {
      outcome = error;
    });
    for (let tryNumber = 1; tryNumber <= appendTriesMax; tryNumber += 1) {
      await expect.poll(() => received.length, { timeout: 10_000, interval: 2 }).toBe(tryNumber);
      await clock.advance(5_000);
      await clock.advance(1_000);
    }
    await appending;
    expect(outcome).toBeInstanceOf(StoreUnavailable);
    expect(outcome).toMatchObject({ code: 'store_silent', retryable: true });
    expect(received).toHaveLength(appendTriesMax);
  });

  it('is sent unchanged, even if the caller modifies its object meanwhile', async () => {
    const { store, server } = await servedStore({ appendTryMs: 300 });
    const stream = freshStream();
    const data = { amount: 1 };
    server.faults.onAppend = failing([{ kind: 'silent' }]).onAppend;
    const appending = store.append(stream, [givenEvent(data)], 'no-stream');
    data.amount = 2;
    await appending;
    expect(await readData(store, stream)).toEqual([{ amount: 1 }]);
  });

  it('is not affected by an answer after its time-out', async () => {
    const { store, server } = await servedStore({ appendTryMs: 200 });
    const late = Promise.withResolvers<undefined>();
    server.faults.onAppend = failing([{ kind: 'late', until: late.promise }]).onAppend;
    const stream = freshStream();
    const answer = await store.append(stream, givenEvents(1), 'no-stream');
    late.resolve(undefined);
    expect(await store.append(stream, givenEvents(1), 0)).toMatchObject({ kind: 'appended', revision: 1 });
    expect(answer).toMatchObject({ revision: 0 });
  });
});

describe('appends at the same time', () => {
  it('fail alone: a silent one delays none sent with it or after it', async () => {
    const { store, server } = await servedStore({ appendTryMs: 1_500 });
    const hanging = freshStream();
    let isFirst = true;
    server.faults.onAppend = ({ stream }) => {
      if (stream !== hanging || !isFirst) return undefined;
      isFirst = false;
      return { kind: 'silent' };
    };
    const order: string[] = [];
    const append = async (name: string, stream = freshStream()) => {
      await store.append(stream, givenEvents(1), 'no-stream');
      order.push(name);
    };
    await Promise.all([append('hanging', hanging), append('beside it')]);
    await append('after it');
    expect(order).toEqual(['beside it', 'hanging', 'after it']);
    expect(await readAll(store, hanging)).toHaveLength(1);
  });
});

describe('several clients in one process', () => {
  it('do not lose their appends by the failure of one of them', async () => {
    // The client keeps all appends of a process in one table, and an error of any client's stream rejects all of them.
    const sound = await servedStore({ appendTryMs: 20_000 });
    const broken = await servedStore({ appendTryMs: 300 });
    const answered = Promise.withResolvers<undefined>();
    const { received, onAppend } = failing([{ kind: 'late', until: answered.promise }]);
    sound.server.faults.onAppend = onAppend;
    const appending = sound.store.append(freshStream(), givenEvents(1), 'no-stream');
    await expect.poll(() => received.length, { timeout: 10_000, interval: 2 }).toBe(1);
    broken.server.faults.onAppend = failing([{ kind: 'reset' }]).onAppend;
    await broken.store.append(freshStream(), givenEvents(1), 'no-stream');
    answered.resolve(undefined);
    await appending;
    expect(received).toHaveLength(1);
  });
});

describe('a repeated append for which the server returns no position', () => {
  it('has that of the first one', async () => {
    const { store, server } = await servedStore();
    const stream = freshStream();
    const events = givenEvents(2);
    const first = await store.append(stream, events, 'no-stream');
    server.faults.onAppend = () => ({ kind: 'no-position' });
    expect(await store.append(stream, events, 'no-stream')).toEqual(first);
  });

  it('conflicts if its events were trimmed', async () => {
    const { store, server, kept } = await servedStore();
    const stream = freshStream();
    const later = givenEvents(2);
    await store.append(stream, givenEvents(1), 'no-stream');
    server.faults.onAppend = () => ({ kind: 'no-position' });
    // The answer has revision 2, but the stream has grown meanwhile and its beginning is deleted.
    const answering = store.append(stream, later, 0);
    await answering;
    await kept.append(stream, givenEvents(3), 2, { keepLast: 1 });
    expect(await store.append(stream, later, 0)).toEqual({ kind: 'conflict', actual: 5 });
  });
});

describe('a conflict with events that the server does not show yet', () => {
  // It was once returned at once: decisions were repeated on the same stale state, and abandoned.
  it('is returned when they can be read', async () => {
    const { store, server, kept } = await servedStore();
    const stream = freshStream();
    await store.append(stream, givenEvents(1), 'no-stream');
    const { received, onAppend } = failing([{ kind: 'conflict', actual: 1 }]);
    server.faults.onAppend = onAppend;
    let isAnswered = false;
    const answering = store.append(stream, givenEvents(1), 0).finally(() => (isAnswered = true));
    await expect.poll(() => received.length, { timeout: 10_000, interval: 2 }).toBe(1);
    // This answer preceded those to later requests.
    for (let count = 0; count < 5; count += 1) expect(await readData(store, stream)).toEqual([0]);
    expect(isAnswered).toBe(false);
    await kept.append(stream, givenEvents(1), 0);
    expect(await answering).toEqual({ kind: 'conflict', actual: 1 });
  });

  // It was once returned: a repeated refund ended with 500, since its events were missing.
  it('proves nothing if they are not shown in time: the append is repeated, and executed if they are lost', async () => {
    const { store, server } = await servedStore(hurried);
    const stream = freshStream();
    const { received, onAppend } = failing([{ kind: 'conflict', actual: 7 }]);
    server.faults.onAppend = onAppend;
    expect(await store.append(stream, givenEvents(1), 'no-stream')).toMatchObject({ kind: 'appended' });
    expect(received).toHaveLength(2);
  });

  it('leaves the outcome unknown if they are never shown', async () => {
    const { store, server } = await servedStore(hurried);
    const { received, onAppend } = failing([]);
    server.faults.onAppend = (append) => onAppend(append) ?? { kind: 'conflict', actual: 7 };
    const appending = store.append(freshStream(), givenEvents(1), 'no-stream');
    await expect(appending).rejects.toThrow(StoreUnavailable);
    await expect(appending).rejects.toMatchObject({ code: 'store_unconfirmed', retryable: true });
    expect(received).toHaveLength(appendTriesMax);
  });

  it('leaves the outcome unknown if nothing was expected', async () => {
    const { store, server } = await servedStore(hurried);
    const stream = freshStream();
    await store.append(stream, givenEvents(1), 'no-stream');
    server.faults.onAppend = () => ({ kind: 'conflict', actual: 0 });
    const appending = store.append(stream, givenEvents(1), 'any');
    await expect(appending).rejects.toMatchObject({ code: 'store_unconfirmed', retryable: true });
  });
});

describe.each(['shown', 'lost'] as const)(
  'an append that a leader without a quorum hides, and that is %s',
  (fate) => {
    const given = async () => {
      const served = await servedStore(hurried);
      const stream = freshStream();
      await served.store.append(stream, [givenEvent('first')], 'no-stream');
      const hidden = hideNext(served.server, (append) => append.stream === stream);
      const appending = served.store.append(stream, [givenEvent('hidden')], 0);
      // It stays unknown.
      appending.catch(() => undefined);
      await expect.poll(hidden.isHidden, { timeout: 10_000, interval: 2 }).toBe(true);
      return { ...served, stream, appending, decide: () => hidden.decide(fate) };
    };

    it('exists once, and cannot be read before', async () => {
      const { store, stream, appending, decide } = await given();
      expect(await readData(store, stream)).toEqual(['first']);
      decide();
      expect(await appending).toMatchObject({ kind: 'appended', revision: 1 });
      expect(await readData(store, stream)).toEqual(['first', 'hidden']);
    });

    it('makes the append of another writer unknown, until it is decided', async () => {
      const { another, stream, appending, decide } = await given();
      const other = await another();
      await expect(other.append(stream, [givenEvent('other')], 0)).rejects.toMatchObject({ retryable: true });
      await expect(appending).rejects.toMatchObject({ retryable: true });
      decide();
      const answer = await other.append(stream, [givenEvent('other')], 0);
      expect(answer).toMatchObject(fate === 'shown' ? { kind: 'conflict', actual: 1 } : { kind: 'appended' });
      expect(await readData(other, stream)).toEqual(['first', fate === 'shown' ? 'hidden' : 'other']);
    });

    it('is ordered before appends without an expected revision', async () => {
      const { another, stream, appending, decide } = await given();
      const other = await another();
      const behind = other.append(stream, [givenEvent('behind')], 'any');
      setTimeout(decide, 20);
      await Promise.all([appending, behind]);
      const data = await readData(other, stream);
      expect(data.filter((each) => each === 'hidden')).toHaveLength(1);
      expect(data).toContain('behind');
      if (fate === 'shown') expect(data.slice(0, 3)).toEqual(['first', 'hidden', 'behind']);
    });
  },
);

describe('a leader that has changed', () => {
  it('is connected to, and executes the append', async () => {
    const { store, server, kept } = await servedStore();
    const other = await servedStore();
    const { received, onAppend } = failing([]);
    other.server.faults.onAppend = onAppend;
    server.faults.onAppend = () => ({
      kind: 'not-leader',
      address: { host: '127.0.0.1', port: other.server.port },
    });
    const stream = freshStream();
    expect(await store.append(stream, givenEvents(1), 'no-stream')).toMatchObject({ kind: 'appended' });
    expect(received).toHaveLength(1);
    expect(await readData(kept, stream)).toEqual([]);
    expect(await readData(other.kept, stream)).toEqual([0]);
  });
});

// KurrentDB's word for an event was unknown to the client, and the append was sent repeatedly as if it might succeed.
it.each(['too-large', 'event-too-large'] as const)(
  'is not repeated on a server with a smaller limit: %s',
  async (kind) => {
    const { store, server } = await servedStore();
    const { received, onAppend } = failing([{ kind }]);
    server.faults.onAppend = onAppend;
    const appending = store.append(freshStream(), givenEvents(1), 'any');
    await expect(appending).rejects.toThrow(InvalidArgument);
    await expect(appending).rejects.toThrow('MaxAppendSize');
    expect(received).toHaveLength(1);
  },
);

describe('truncate', () => {
  it('keeps other metadata of the stream', async () => {
    const { store, kept } = await servedStore();
    const stream = freshStream();
    const metadata = { type: '$metadata', data: { $acl: { $r: 'all', $own: 1 }, note: 'x' } };
    await kept.append(`!$$${stream}`, [{ ...givenEvent(), ...metadata }], 'no-stream');
    await store.append(stream, givenEvents(4), 'no-stream');
    await store.truncate(stream, 2);
    await store.truncate(stream, 2);
    expect(await readData(kept, `!$$${stream}`)).toEqual([metadata.data, { ...metadata.data, $tb: 2 }]);
  });
});
