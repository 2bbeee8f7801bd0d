/** Pages of what is in the index. */
import type { DisputeDocument } from './dispute-document.ts';
import type { DocumentEnvelope, DocumentKind } from './document-kind.ts';
import { disputeKind } from './document-kinds.ts';
import { totalCountMax, type DocumentList, type ListQuery } from './document-list.ts';
import { InvariantViolation } from '@tollgate/service-kit';
import { toDocument, type IndexFile, type Row } from './index-file.ts';
import { walksOf } from './index-walks.ts';
import { formatCursor, pageOf, type ListName, type ListOwner, type Rows } from './list-page.ts';

/** The documents of some kinds that a query asks for, newest first. */
export function listDocuments<Document extends DocumentEnvelope>(
  file: IndexFile,
  { list, kinds, query }: { list: ListName; kinds: readonly DocumentKind<Document>[]; query: ListQuery },
): DocumentList<Document> {
  const rows = pageOf(list, query);
  if (rows.kind === 'refused') return rows;
  const found = selectPage(file, { kinds, query, rows });
  // Documents are fetched for the rows that are shown only, and never for those that a page number passes over.
  const documents = found.slice(0, query.perPage).map((row) => toDocumentOf(file, kinds, row));
  const last = documents.at(-1);
  const isMore = found.length > query.perPage && last !== undefined;
  return {
    kind: 'page',
    documents,
    ...(isMore ? { nextCursor: formatCursor(list, query, { at: last.createdAt, key: last.token }) } : {}),
    ...(query.withTotal === true ? { totalCount: count(file, kinds, query) } : {}),
  };
}

/** Which rows are on the page, and one more where another page follows. SQLite merges the walks and stops at the limit. */
function selectPage(
  file: IndexFile,
  { kinds, query, rows }: { kinds: readonly DocumentKind[]; query: ListQuery; rows: Rows },
): Row[] {
  const walks = kinds.flatMap((kind) => walksOf(kind, query, rows.after));
  if (walks.length === 0) return [];
  const sql = walks.map((walk) => walk.sql).join(' UNION ALL ');
  const values = walks.flatMap((walk) => walk.values);
  return file.select(`${sql} ORDER BY created_at DESC, token DESC LIMIT ? OFFSET ?`, [
    ...values,
    query.perPage + 1,
    rows.skip,
  ]);
}

function toDocumentOf<Document extends DocumentEnvelope>(
  file: IndexFile,
  kinds: readonly DocumentKind<Document>[],
  row: Row,
): Document {
  const kind = kinds.find(({ name }) => name === row['kind']);
  const document = kind && file.find(kind, String(row['token']));
  if (document === undefined) throw new InvariantViolation('a row of the index is without its document');
  return document;
}

function count(file: IndexFile, kinds: readonly DocumentKind[], query: ListQuery): number {
  const counts = kinds.map((kind) => {
    const walks = walksOf(kind, query);
    if (walks.length === 0) return 0;
    const sql = `SELECT count(*) AS total FROM (${walks.map((walk) => walk.sql).join(' UNION ALL ')} LIMIT ?)`;
    const values = walks.flatMap((walk) => walk.values);
    return Number(file.select(sql, [...values, totalCountMax])[0]?.['total']);
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
