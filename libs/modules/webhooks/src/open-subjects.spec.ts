import { describe, expect, it } from 'vitest';
import type { LoadedWebhooks } from './webhook-journal.ts';
import { createOpenSubjects, type OpenSubjects } from './open-subjects.ts';
import { dueOf } from './testing/subjects.ts';

interface Given {
  nextAt?: number;
  team?: string;
  url?: string;
  revision?: number;
  state?: 'open' | 'delivered';
}

function loaded({
  nextAt = 0,
  team = 'shop',
  url = `https://${team}.example/hook`,
  revision = 0,
  state = 'open',
}: Given = {}): LoadedWebhooks {
  const unused = { createdAt: 0, failuresInRow: 0, deliveries: [] };
  const webhook = { ...dueOf('pay', { team, url }), ...unused, state, nextAt };
  return { revision, state: { replays: 0, webhooks: [webhook] } };
}

function takeAll(open: OpenSubjects, now = 0): string[] {
  const taken: string[] = [];
  for (let token = open.take(now); token !== undefined; token = open.take(now)) taken.push(token);
  return taken;
}

const limits = { total: 4, perTeam: 3, perOrigin: 2 };

describe('the next turn', () => {
  it('rotates over the receivers, and is in order of arrival within one', () => {
    const open = createOpenSubjects({ total: 10, perTeam: 10, perOrigin: 10 });
    for (const token of ['a1', 'a2', 'a3']) open.update(token, loaded({ team: 'a' }));
    for (const token of ['b1', 'b2']) open.update(token, loaded({ team: 'b' }));
    expect(takeAll(open)).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
  });

  it('is refused beyond the limits of an origin, of a team and in total', () => {
    const open = createOpenSubjects(limits);
    for (const each of [1, 2, 3]) open.update(`a${each}`, loaded({ team: 'a', url: 'https://one.example' }));
    expect(takeAll(open)).toEqual(['a1', 'a2']);
    for (const each of [4, 5]) open.update(`a${each}`, loaded({ team: 'a', url: 'https://two.example' }));
    expect(takeAll(open)).toEqual(['a4']);
    for (const each of [1, 2]) open.update(`b${each}`, loaded({ team: 'b' }));
    expect(takeAll(open)).toEqual(['b1']);
    open.release('a1');
    // To the receiver that was served longest ago.
    expect(takeAll(open)).toEqual(['a3']);
  });

  it('counts two teams with one receiver separately', () => {
    const open = createOpenSubjects({ ...limits, perOrigin: 1 });
    for (const team of ['a', 'b']) open.update(team, loaded({ team, url: 'https://shared.example' }));
    expect(takeAll(open)).toEqual(['a', 'b']);
  });

  it('includes a subject only once at a time, and again when it is due again', () => {
    const open = createOpenSubjects(limits);
    open.update('a', loaded());
    expect(takeAll(open)).toEqual(['a']);
    open.update('a', loaded({ revision: 1, nextAt: 50 }));
    expect(takeAll(open, 100)).toEqual([]);
    open.release('a');
    expect(takeAll(open, 49)).toEqual([]);
    expect(open.nextDueAt()).toBe(50);
    expect(takeAll(open, 50)).toEqual(['a']);
  });

  it('omits a subject that another process has finished', () => {
    const open = createOpenSubjects(limits);
    open.update('a', loaded());
    open.update('a', loaded({ revision: 1, state: 'delivered' }));
    expect(takeAll(open)).toEqual([]);
    expect(open.has('a')).toBe(false);
  });

  it('is not changed by older events', () => {
    const open = createOpenSubjects(limits);
    open.update('a', loaded({ revision: 3, nextAt: 50 }));
    open.update('a', loaded({ revision: 2 }));
    expect(takeAll(open, 49)).toEqual([]);
    expect([open.isKnown('a', 3), open.isKnown('a', 4), open.isKnown('b', 0)]).toEqual([true, false, false]);
  });

  it('comes later with each consecutive failed write of an attempt, by up to 30 seconds', () => {
    const open = createOpenSubjects(limits);
    open.update('a', loaded());
    let now = 0;
    const pausesMs = Array.from({ length: 7 }, () => {
      expect(takeAll(open, now)).toEqual(['a']);
      open.putOff('a', now);
      const pauseMs = (open.nextDueAt() ?? Infinity) - now;
      expect(takeAll(open, now + pauseMs - 1)).toEqual([]);
      now += pauseMs;
      return pauseMs;
    });
    expect(pausesMs).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(takeAll(open, now)).toEqual(['a']);
    open.release('a');
    open.update('a', loaded({ revision: 1 }));
    takeAll(open, now);
    open.putOff('a', now);
    expect(open.nextDueAt()).toBe(now + 1_000);
  });
});
