import { describe, expect, it } from 'vitest';
import { bars } from './bars.ts';

const columnsIn = (markup: string): number => markup.split('<title>').length - 1;

describe('columns over time', () => {
  /** With traffic in every minute, the first page of the console was 163 KB over the wire; its spec had none. */
  it('are a few kilobytes of the first page for a whole hour of minutes', () => {
    const minutes = Array.from({ length: 60 }, (_, minute) => ({
      label: `12:${minute} UTC: 1,234 / 5,678 ms`,
      value: 5_678 - minute,
      part: 1_234 + minute,
    }));
    const { html } = bars(minutes, 'Own time, by minute');
    expect(columnsIn(html)).toBe(60);
    expect(html.length).toBeLessThan(9_000);
  });

  it('have none for what is nothing, and a lighter one for what is under way', () => {
    const { html } = bars(
      [
        { label: 'none', value: 0 },
        { label: 'last', value: 1, part: 0 },
      ],
      'By hour',
    );
    expect(columnsIn(html)).toBe(1);
    expect(html).toContain('<g class="under-way"><title>last</title>');
    expect(html).not.toContain('class="part"');
  });
});
