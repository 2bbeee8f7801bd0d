import { InvalidParameter } from '@tollgate/service-kit/command-line';
import { afterEach, describe, expect, it } from 'vitest';
import { day, instant, person } from './parameters.ts';

const { TZ: zoneBefore } = process.env;
afterEach(() => {
  if (zoneBefore === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zoneBefore;
});

// A time without a zone must not depend on the machine's zone, and 31 November must not become 1 December.
it.each(['UTC', 'America/New_York', 'Asia/Tokyo'])('an instant is the same in the zone %s', (zone) => {
  process.env['TZ'] = zone;
  expect(instant('2026-11-23')).toBe(Date.UTC(2026, 10, 23));
  expect(instant('2026-11-23T08:00Z')).toBe(Date.UTC(2026, 10, 23, 8));
  expect(instant('2026-11-23T08:00:30+02:00')).toBe(Date.UTC(2026, 10, 23, 6, 0, 30));
});

it.each(['2026-11-23T08:00', '2026-11-23 08:00Z', '2026-11-31', '2026-02-29T00:00Z', '2026-11', 'now', ''])(
  '%j is no instant',
  (text) => expect(() => instant(text)).toThrow('must be'),
);

it('a day must exist', () => {
  expect(day('2028-02-29')).toBe('2028-02-29');
  for (const text of ['2026-02-29', '2026-11-31', '2026-11-23T08:00Z'])
    expect(() => day(text)).toThrow('an existing day');
});

describe('a person', () => {
  it.each(['anna', 'anna@shop.example', 'Anna Müller (on call)'])('%j', (text) =>
    expect(person(text)).toBe(text),
  );

  it.each([
    ...['', ' ', ' anna', 'os:root@host', 'a\nb', 'a\u001b[2J', 'a\u202eb', 'a\u2028b', 'a'.repeat(129)],
  ])('is not %j', (text) => expect(() => person(text)).toThrow(InvalidParameter));
});
