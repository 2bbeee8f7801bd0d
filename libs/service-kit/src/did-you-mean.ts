/** Suggests the known name that a mistyped one is closest to. */

/** Longer texts are no typing mistakes. */
const lengthMax = 40;

/** @returns ` Did you mean orderNumber?`, or nothing if no name is close */
export function didYouMean(typed: string, known: readonly string[]): string {
  if (typed.length > lengthMax) return '';
  const plain = (name: string) => name.toLowerCase().replaceAll(/[_ -]/g, '');
  const scored = known.map((name) => ({ name, distance: distanceOf(plain(typed), plain(name)) }));
  const [best] = scored.toSorted((one, other) => one.distance - other.distance);
  const isClose = best !== undefined && best.distance <= Math.min(2, Math.floor(best.name.length / 3));
  return isClose ? ` Did you mean ${best.name}?` : '';
}

/** Insertions, deletions and replacements that make one text the other. */
function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (let line = 0; line < one.length; line += 1) {
    const letter = one[line];
    const next = [line + 1];
    for (let place = 1; place <= other.length; place += 1) {
      const replaced = (row[place - 1] ?? 0) + (letter === other[place - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[place] ?? 0) + 1, (next[place - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
