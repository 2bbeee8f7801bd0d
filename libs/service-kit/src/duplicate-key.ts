/**
 * Finds a duplicate key of an object in a JSON text. Parsers disagree about which one counts, so one program could
 * check a value that another does not use. One pass, at any nesting depth.
 *
 * @param json that a parser has accepted
 * @returns the path of the second one, for example `destination.card`; undefined if every key is unique
 */
export function duplicateKeyIn(json: string): string | undefined {
  /** Objects and lists that are open here; a list has no keys. */
  const open: { keys: Set<string> | undefined; key: string }[] = [];
  let isKeyNext = false;
  for (const [token] of json.matchAll(tokens)) {
    const inner = open.at(-1);
    if (token === '{' || token === '[') {
      open.push({ keys: token === '{' ? new Set() : undefined, key: '' });
      isKeyNext = token === '{';
    } else if (token === '}' || token === ']') open.pop();
    else if (token === ',') isKeyNext = inner?.keys !== undefined;
    else if (isKeyNext && inner?.keys !== undefined) {
      // Of several spellings of one key (`\u0061`), each is the same key.
      inner.key = JSON.parse(token) as string;
      if (inner.keys.has(inner.key)) return pathOf(open);
      inner.keys.add(inner.key);
      isKeyNext = false;
    }
  }
  return undefined;
}

/** Strings, brackets and separators; the text between them has no keys. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],]/gs;

const pathOf = (open: readonly { keys: unknown; key: string }[]): string =>
  open.flatMap(({ keys, key }) => (keys === undefined ? [] : [key])).join('.');
