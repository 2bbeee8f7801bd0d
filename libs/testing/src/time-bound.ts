/** A time limit for a filter, for any text. */
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { propertyRuns } from './property-runs.ts';

/** Texts that make regular expressions and hand-written scanners slow. */
const pieces = [
  ...['a', 'f', 'Z', '0', '4', '9', 'ab', '1a2b', '4 ', '4392963203551251', '000'],
  ...[' ', '\t', '\n', '.', '-', '_', '/', '\\', '%', '%25', '%34', '%%3', '"', '\\"', "'", '`'],
  ...['{', '[', '(', ':', '=', ';', ',', '@', '*', '&', '#', '?', '+', '<', '!', '~', '$'],
  ...['é', '٤', '½', '\u200b', '\u202e', '\u001b', '\ud800', 'tg_', 'a-', 'a.', 'a@', '//', 'http://'],
];

/** A beginning, a few pieces repeated up to the length, and an end at which a match can fail. */
function worstTexts(length: number): fc.Arbitrary<string> {
  const piece = fc.constantFrom(...pieces);
  const pieceTexts = (minLength: number, maxLength: number) =>
    fc.array(piece, { minLength, maxLength }).map((parts) => parts.join(''));
  return fc.tuple(pieceTexts(0, 2), pieceTexts(1, 3), pieceTexts(0, 2)).map(([start, unit, end]) => {
    const room = Math.max(0, length - start.length - end.length);
    return `${start}${unit.repeat(Math.ceil(room / unit.length)).slice(0, room)}${end}`;
  });
}

const boundMs = 20;
const triesMax = 10;
const textsMax = propertyRuns(200);

/** Linear work that every filter could do: the yardstick of this machine at this moment. */
const yardstick = 'ab1 9-'.repeat(11_000);
/** CPU time of one look at the yardstick on the machine that the bound is stated for. @unit ms */
const yardstickMs = 2.5;

function cpuTimeOf(call: () => unknown): number {
  const start = process.threadCpuUsage();
  call();
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1000;
}

const readYardstick = () => Array.from(yardstick).filter((char) => /\p{Nd}/u.test(char)).length;

/** 1 on the machine that the bound is stated for, more on a slower or busier one. */
function slowness(): number {
  const rounds = 10;
  const total = cpuTimeOf(() => {
    for (let round = 0; round < rounds; round += 1) readYardstick();
  });
  return Math.max(1, total / rounds / yardstickMs);
}

/**
 * CPU time, the best of a few tries, divided by how slow the machine is now: a busy or slow machine does not count, nor does a
 * cold start. It ends at the first try within the bound.
 */
function bestTimeOf(call: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < triesMax && best > boundMs; tries += 1) {
    const time = cpuTimeOf(call);
    best = Math.min(best, time > boundMs ? time / slowness() : time);
  }
  return best;
}

/** @throws Error with the beginning of a text of the length that a filter needs more than 20 ms for */
function assertTimeBound(filter: (text: string) => unknown, length: number): void {
  fc.assert(
    fc.property(worstTexts(length), (text) => {
      const time = bestTimeOf(() => filter(text));
      if (time > boundMs) throw new Error(`${time.toFixed(0)} ms for ${JSON.stringify(text.slice(0, 60))}`);
    }),
    { numRuns: textsMax },
  );
}

type Bounded = readonly [name: string, length: number, filter: (text: string) => unknown];

/** A test for each filter, with texts of that length. */
export function describeTimeBound(filters: readonly Bounded[]): void {
  describe('takes at most 20 ms for any text', () => {
    it.each(filters)('%s (%d characters)', (_name, length, filter) => assertTimeBound(filter, length));
  });
}
