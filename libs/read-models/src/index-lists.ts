/** Pages of what is in the index. */
import {
  totalCountMax,
  toCondition,
  type Condition,
  type ListQuery,
  type DocumentList,
} from './document-list.ts';
import type { DocumentEnvelope, DocumentKind } from './document-kind.ts';
import type { DisputeDocument } from './dispute-document.ts';
import { disputeKind } from './document-kinds.ts';
import { toDocument, type IndexFile, type Row } from './index-file.ts';
import { formatCursor, pageOf, type ListName, type ListOwner, type Rows } from './list-page.ts';

/** The documents of some kinds that a query asks for, newest first. */
export function listDocuments<Document extends DocumentEnvelope>(
  file: IndexFile,
  { list, kinds, query }: { list: ListName; kinds: readonly DocumentKind<Document>[]; query: ListQuery },
): DocumentList<Document> {
  const rows = pageOf(list, query);
  if (rows.kind === 'refused') return rows;
  const condition = toCondition(query);
  const found = selectPage(file, { kinds, condition, rows, limit: query.perPage + 1 });
  const documents = found.slice(0, query.perPage).map((row) => toDocumentOf(kinds, row));
  const last = documents.at(-1);
  const isMore = found.length > query.perPage && last !== undefined;
  return {
    kind: 'page',
    documents,
    ...(isMore ? { nextCursor: formatCursor(list, query, { at: last.createdAt, key: last.token }) } : {}),
    ...(query.withTotal === true ? { totalCount: count(file, kinds, condition) } : {}),
  };
}

interface PageOfTables {
  kinds: readonly DocumentKind[];
  condition: Condition;
  rows: Rows;
  limit: number;
}

/** Each table gives its rows in the order of the answer through an index; SQLite merges them and stops at the limit. */
export function pageSqlOf({ kinds, condition, rows }: Omit<PageOfTables, 'limit'>): string {
  const sqlAfter = rows.after === undefined ? '' : 'AND (created_at, token) < (?, ?)';
  const parts = kinds.map(
    ({ name, table }) =>
      `SELECT '${name}' AS kind, created_at, token, document FROM ${table.name} WHERE ${condition.sql} ${sqlAfter}`,
  );
  return `${parts.join(' UNION ALL ')} ORDER BY created_at DESC, token DESC LIMIT ? OFFSET ?`;
}

function selectPage(file: IndexFile, { kinds, condition, rows, limit }: PageOfTables): Row[] {
  const { after, skip } = rows;
  const valuesAfter = after === undefined ? [] : [after.at, after.key];
  const values = kinds.flatMap(() => [...condition.values, ...valuesAfter]);
  return file.select(pageSqlOf({ kinds, condition, rows }), [...values, limit, skip]);
}

function toDocumentOf<Document extends DocumentEnvelope>(
  kinds: readonly DocumentKind<Document>[],
  row: Row,
): Document {
  const kind = kinds.find(({ name }) => name === row['kind']);
  if (kind === undefined) throw new RangeError('a row of the index is of no kind that was asked for');
  return toDocument(kind, row);
}

function count(file: IndexFile, kinds: readonly DocumentKind[], { sql, values }: Condition): number {
  const counts = kinds.map(({ table }) => {
    const text = `SELECT count(*) AS total FROM (SELECT 1 FROM ${table.name} WHERE ${sql} LIMIT ${totalCountMax})`;
    return Number(file.select(text, values)[0]?.['total']);
  });
  return counts.reduce((sum, each) => sum + each, 0);
}

/** The disputes of a team that were opened last, newest first. */
export function listDisputes(
  file: IndexFile,
  { environment, team }: ListOwner,
  limit: number,
): DisputeDocument[] {
  const sql = `SELECT document FROM disputes WHERE environment = ? AND team = ?
    ORDER BY opened_at DESC, token DESC LIMIT ?`;
  return file.select(sql, [environment, team, limit]).map((row) => toDocument(disputeKind, row));
}
