import { describe, expect, it } from 'vitest';
import { type ReconciledDays, afterRun, dueDay, lastCompleteDay, recentDifferences } from './schedule.ts';

const at = (text: string) => Date.parse(`${text}Z`);
const none: ReconciledDays = new Map();
const run = (day: string, startedAt: string, more: object = {}) => ({
  ...({
    day,
    isDryRun: false,
    outcome: 'complete',
    startedAt: at(startedAt),
    endedAt: at(startedAt),
  } as const),
  ...more,
});
const after = (...runs: ReturnType<typeof run>[]) =>
  runs.reduce((days, each) => afterRun(days, each, 0), none);
/** Compares due days until none is left. */
function dueAt(days: ReconciledDays, now: string, afterDays?: readonly number[]): [string[], ReconciledDays] {
  const due: string[] = [];
  let known = days;
  for (
    let day = dueDay(known, at(now), afterDays);
    day !== undefined;
    day = dueDay(known, at(now), afterDays)
  ) {
    due.push(day);
    known = afterRun(known, { ...run(day, now) }, 0);
  }
  return [due, known];
}

describe('due is', () => {
  it('today, hourly', () => {
    expect(dueDay(none, at('2026-11-10T12:00:00'))).toBe('2026-11-10');
    const days = after(run('2026-11-10', '2026-11-10T12:00:00'));
    expect(dueDay(days, at('2026-11-10T12:59:59'))).toBeUndefined();
    expect(dueDay(days, at('2026-11-10T13:00:00'))).toBe('2026-11-10');
  });

  // An unreadable page of yesterday took hours of tries: it was due again at once, before all older days.
  it('no day that was tried for hours until now, so that the others have their turn', () => {
    const tried = { outcome: 'incomplete', endedAt: at('2026-11-10T12:00:00') };
    const days = after(
      run('2026-11-01', '2026-11-01T12:00:00'),
      run('2026-11-09', '2026-11-10T08:00:00', tried),
      run('2026-11-10', '2026-11-10T11:30:00'),
    );
    const [due, next] = dueAt(days, '2026-11-10T12:00:01');
    expect(due).toContain('2026-11-08');
    expect(due).not.toContain('2026-11-09');
    expect(dueAt(next, '2026-11-10T13:00:00')[0]).toContain('2026-11-09');
  });

  // A process whose clock ran four hours ahead had compared today: today was compared again only five hours after the
  // correction.
  it('today, hourly, even if a clock that ran ahead has compared it', () => {
    const days = after(run('2026-11-10', '2026-11-10T16:00:00'));
    expect(dueDay(days, at('2026-11-10T12:00:00'))).toBe('2026-11-10');
    const [, next] = dueAt(days, '2026-11-10T12:00:00');
    expect(dueDay(next, at('2026-11-10T12:59:59'))).toBeUndefined();
  });

  it('each day again after 1, 2, 7 and 30 days, and nothing before the first', () => {
    let days = after(run('2026-11-01', '2026-11-01T12:00:00'));
    const compared: Record<string, string[]> = {};
    for (let day = 2; day <= 33; day += 1) {
      const now = new Date(Date.UTC(2026, 10, day, 6)).toISOString().slice(0, 19);
      const [due, next] = dueAt(days, now);
      days = next;
      for (const each of due) (compared[each] ??= []).push(now.slice(0, 10));
    }
    expect(compared['2026-11-01']).toEqual(['2026-11-02', '2026-11-03', '2026-11-08', '2026-12-01']);
    expect(Object.keys(compared).sort()[0]).toBe('2026-11-01');
  });

  it('no day that has just ended: calls announced before midnight may be under way', () => {
    const days = after(run('2026-11-09', '2026-11-09T23:59:00'), run('2026-11-10', '2026-11-10T00:01:00'));
    expect(dueDay(days, at('2026-11-10T00:14:59'))).toBeUndefined();
    expect(dueDay(days, at('2026-11-10T00:59:00'))).toBe('2026-11-09');
  });

  it('every day missed in an outage', () => {
    const days = after(run('2026-11-01', '2026-11-01T12:00:00'));
    const [due] = dueAt(days, '2026-11-06T12:00:00', [1]);
    expect(due.sort()).toEqual([
      '2026-11-01',
      '2026-11-02',
      '2026-11-03',
      '2026-11-04',
      '2026-11-05',
      '2026-11-06',
    ]);
  });

  it('a day that was not compared completely, an hour later', () => {
    const tried = run('2026-11-09', '2026-11-10T12:00:00', { outcome: 'incomplete' });
    const days = after(tried, run('2026-11-10', '2026-11-10T12:00:00'));
    expect(dueDay(days, at('2026-11-10T12:30:00'))).toBeUndefined();
    expect(dueAt(days, '2026-11-10T13:00:00')[0]).toEqual(['2026-11-10', '2026-11-09']);
  });

  it('not changed by a dry run', () => {
    expect(after(run('2026-11-10', '2026-11-10T12:00:00', { isDryRun: true }))).toEqual(none);
  });
});

describe('the last complete day', () => {
  it('is the last one up to which everything was compared after its end', () => {
    expect(lastCompleteDay(none)).toBeUndefined();
    expect(lastCompleteDay(after(run('2026-11-01', '2026-11-01T12:00:00')))).toBeUndefined();
    const first = run('2026-11-01', '2026-11-02T06:00:00');
    const third = run('2026-11-03', '2026-11-04T06:00:00');
    expect(lastCompleteDay(after(first, third))).toBe('2026-11-01');
    expect(lastCompleteDay(after(first, third, run('2026-11-02', '2026-11-04T07:00:00')))).toBe('2026-11-03');
  });
});

it('differences are those of the latest runs of three days', () => {
  const days = [
    [run('2026-11-07', '2026-11-08T06:00:00'), 8],
    [run('2026-11-08', '2026-11-09T06:00:00'), 4],
    [run('2026-11-10', '2026-11-10T06:00:00'), 2],
    [run('2026-11-10', '2026-11-10T07:00:00'), 1],
  ] as const;
  const known = days.reduce((all, [each, count]) => afterRun(all, each, count), none);
  expect(recentDifferences(known, at('2026-11-10T12:00:00'))).toBe(5);
});
