/** A bound for the time that a filter takes, whatever text it is given. */
import fc from 'fast-check';

/** What regular expressions and hand-written scanners decide by. */
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
const textsMax = 200;

/** CPU time, the best of a few tries: neither a busy machine nor a cold start counts. It ends at the first within the bound. */
function bestTimeOf(call: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < triesMax && best > boundMs; tries += 1) {
    const start = process.threadCpuUsage();
    call();
    const { user, system } = process.threadCpuUsage(start);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}

/** @throws Error with the beginning of a text of the length that a filter needs more than 20 ms for */
export function assertTimeBound(filter: (text: string) => unknown, length: number): void {
  fc.assert(
    fc.property(worstTexts(length), (text) => {
      const time = bestTimeOf(() => filter(text));
      if (time > boundMs) throw new Error(`${time.toFixed(0)} ms for ${JSON.stringify(text.slice(0, 60))}`);
    }),
    { numRuns: textsMax },
  );
}
