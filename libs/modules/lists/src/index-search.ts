/** Searches the index by what people type: the beginning of a token or of an order number. */
import type { IndexFile } from './index-file.ts';
import { orderKey } from './index-filters.ts';
import { refundToken } from './index-schema.ts';
import type { ListOwner } from './list-page.ts';

export interface Match {
  kind: 'payment' | 'payout' | 'dispute' | 'refund';
  /** Of a refund: `<payment>~<refund>`. */
  token: string;
  why: 'token' | 'order-number';
  /** The text is the whole token or order number, not only its beginning. */
  isWhole: boolean;
}

interface Asked {
  text: string;
  limit: number;
}

/** Sorts after every text that begins with another one. */
const lastCharacter = '\u{10ffff}';

/** Tokens that one search visits in a table: those of other teams must not take long to skip. */
const tokensMax = 5_000;

/** A dispute also has the id that the bank uses. */
const kinds = [
  { kind: 'payment', column: 'token' },
  { kind: 'payout', column: 'token' },
  { kind: 'dispute', column: 'token' },
  { kind: 'dispute', column: "json_extract(view, '$.dispute.id')" },
  { kind: 'refund', column: refundToken },
] as const;

/** Whole matches first. Reads one range of an index for each kind, and for each owner one of order numbers. */
export function searchIndex(file: IndexFile, owners: readonly ListOwner[], asked: Asked): Match[] {
  const matches = [
    ...kinds.flatMap((kind) => findTokens(file, kind, owners, asked)),
    ...(['payment', 'payout'] as const).flatMap((kind) => findOrderNumbers(file, kind, owners, asked)),
  ];
  return matches.toSorted((one, other) => Number(other.isWhole) - Number(one.isWhole)).slice(0, asked.limit);
}

/** Includes a token that a page shortened to its beginning, an ellipsis and its end. */
function findTokens(
  file: IndexFile,
  { kind, column }: (typeof kinds)[number],
  owners: readonly ListOwner[],
  { text, limit }: Asked,
): Match[] {
  const [begin = '', end = ''] = text.split(/…|\.{3}/, 2);
  if (begin === '') return [];
  const sql = `SELECT token, id FROM (
      SELECT token, ${column} AS id, environment, team FROM ${kind}s
      WHERE ${column} >= ? AND ${column} < ? ORDER BY ${column} LIMIT ${tokensMax}
    ) WHERE environment || ' ' || team IN (SELECT value FROM json_each(?))
      AND substr(id, length(id) - length(?) + 1) = ? LIMIT ?`;
  const keys = JSON.stringify(owners.map(({ environment, team }) => `${environment} ${team}`));
  return file
    .select(sql, [begin, `${begin}${lastCharacter}`, keys, end, end, limit])
    .map(({ token, id }) => ({ kind, token: String(token), why: 'token', isWhole: id === text }));
}

/** Ignores case, `#` and spaces. */
function findOrderNumbers(
  file: IndexFile,
  kind: 'payment' | 'payout',
  owners: readonly ListOwner[],
  { text, limit }: Asked,
): Match[] {
  const table = `${kind}s`;
  const key = orderKey('order_number');
  const sql = `SELECT token, ${key} = ${orderKey('?')} AS is_whole, ${key} AS key
    FROM ${table} INDEXED BY ${table}_by_order_number
    WHERE environment = ? AND team = ? AND ${key} >= ${orderKey('?')} AND ${key} < ${orderKey('?')} || ?
      AND order_number IS NOT NULL ORDER BY key, created_at DESC LIMIT ?`;
  if (text.replaceAll(/[#\s]/g, '') === '') return [];
  return owners
    .flatMap(({ environment, team }) =>
      file.select(sql, [text, environment, team, text, text, lastCharacter, limit]),
    )
    .toSorted((one, other) => (String(one['key']) < String(other['key']) ? -1 : 1))
    .map(({ token, is_whole: isWhole }) => ({
      kind,
      token: String(token),
      why: 'order-number',
      isWhole: isWhole === 1,
    }));
}
