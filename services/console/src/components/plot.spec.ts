import { describe, expect, it, test } from 'vitest';
import { plot, roundedUp } from './plot.ts';

const hours = Array.from({ length: 24 }, (_, hour) => new Date(Date.UTC(2030, 0, 31, hour)).toISOString());
const drawn = (values: readonly (number | undefined)[], steps = hours.slice(0, values.length)) =>
  plot({
    steps,
    lines: [{ name: 'Created', values }],
    format: (value) => `${value} a`,
    description: 'Created',
  }).html;

test.each([
  [1, 1],
  [3, 4],
  [4.5, 10],
  [11, 20],
  [0.3, 0.4],
  [999, 1_000],
])('%d is on a scale up to %d', (value, top) => expect(roundedUp(value)).toBe(top));

describe('a plot', () => {
  it('has a scale, a tooltip for every step, and a gap where nothing happened', () => {
    const html = drawn([1, undefined, 3, 4]);
    expect(html).toMatch(/<span>4 a<\/span>\s*<span>2 a<\/span>\s*<span>0 a<\/span>/);
    expect(html).toContain('<title>2030-01-31 01:00 UTC, Created: –');
    expect(html.match(/<title>/g)).toHaveLength(4);
    expect(html).toContain('d="M60 75m-4 0h8M300 25L420 0"');
  });

  /** Every column and shape adds to the size of the overview page. */
  it('of a day is a few kilobytes', () => {
    expect(drawn(hours.map((_, hour) => 1_000 + hour)).length).toBeLessThan(6_000);
  });
});
