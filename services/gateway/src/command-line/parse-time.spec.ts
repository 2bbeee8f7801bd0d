import { afterEach, expect, it } from 'vitest';
import { parseDay, parseInstant } from './parse-time.ts';

const { TZ: zoneBefore } = process.env;
afterEach(() => {
  if (zoneBefore === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zoneBefore;
});

// `audit --since` read a time without a zone in the zone of the machine, and took 31 November for 1 December.
it.each(['UTC', 'America/New_York', 'Asia/Tokyo'])('an instant is the same in the zone %s', (zone) => {
  process.env['TZ'] = zone;
  expect(parseInstant('2026-11-23')).toBe(Date.UTC(2026, 10, 23));
  expect(parseInstant('2026-11-23T08:00Z')).toBe(Date.UTC(2026, 10, 23, 8));
  expect(parseInstant('2026-11-23T08:00:30+02:00')).toBe(Date.UTC(2026, 10, 23, 6, 0, 30));
});

it.each(['2026-11-23T08:00', '2026-11-23 08:00Z', '2026-11-31', '2026-02-29T00:00Z', '2026-11', 'now', ''])(
  '%j is no instant',
  (text) => {
    expect(() => parseInstant(text)).toThrow('It must be');
  },
);

it('a day exists', () => {
  expect(parseDay('2028-02-29')).toBe('2028-02-29');
  for (const text of ['2026-02-29', '2026-11-31', '2026-11-23T08:00Z'])
    expect(() => parseDay(text)).toThrow('a day that exists');
});
