/** What waits for a person, over payments and payouts, from the index. */
import type { DocumentEnvelope, DocumentKind } from './document-kind.ts';
import { paymentKind, payoutKind } from './document-kinds.ts';
import { InvariantViolation } from '@tollgate/service-kit';
import type { IndexFile, Row } from './index-file.ts';
import { formatCursor, pageOf, type PageQuery, type PageRefused, type Place } from './list-page.ts';
import type { PaymentDocument } from './payment-document.ts';
import type { PayoutDocument } from './payout-document.ts';

/** The document that waits for a person, and which of its matters: a place in its list of attention. */
export type AttentionEntry = { place: number; since: number } & (
  { kind: 'payment'; document: PaymentDocument } | { kind: 'payout'; document: PayoutDocument }
);

export type AttentionList = { kind: 'page'; entries: AttentionEntry[]; nextCursor?: string } | PageRefused;

export interface AttentionQuery extends PageQuery {
  /** Only of these; by default of all. */
  kind?: AttentionEntry['kind'];
}

/** Every open attention of a team, oldest first. */
export function listAttention(file: IndexFile, query: AttentionQuery): AttentionList {
  const begin = pageOf('attention', query);
  if (begin.kind === 'refused') return begin;
  const rows = selectAttention(file, query, begin);
  const shown = rows.slice(0, query.perPage);
  const last = rows.length > query.perPage ? shown.at(-1) : undefined;
  return {
    kind: 'page',
    entries: shown.map((row) => toEntry(file, row)),
    ...(last === undefined ? {} : { nextCursor: formatCursor('attention', query, toPlace(last)) }),
  };
}

function selectAttention(
  file: IndexFile,
  { environment, team, kind, perPage }: AttentionQuery,
  { after, skip }: { after?: Place; skip: number },
): Row[] {
  const sqlAfter = after === undefined ? '' : 'AND (since, token, number) > (?, ?, ?)';
  const sqlKind = kind === undefined ? '' : 'AND kind = ?';
  const sql = `SELECT since, token, number, kind FROM attention
    WHERE environment = ? AND team = ? ${sqlAfter} ${sqlKind}
    ORDER BY since, token, number LIMIT ? OFFSET ?`;
  const valuesAfter = after === undefined ? [] : [after.at, ...fromKey(after.key)];
  return file.select(sql, [
    environment,
    team,
    ...valuesAfter,
    ...(kind === undefined ? [] : [kind]),
    perPage + 1,
    skip,
  ]);
}

const toPlace = (row: Row): Place => ({
  at: Number(row['since']),
  key: `${String(row['token'])}~${String(row['number'])}`,
});

function fromKey(key: string): [token: string, number: number] {
  const [token = '', number] = key.split('~');
  return [token, Number(number)];
}

function toEntry(file: IndexFile, row: Row): AttentionEntry {
  const found = { place: Number(row['number']), since: Number(row['since']) };
  const token = String(row['token']);
  return row['kind'] === payoutKind.name
    ? { ...found, kind: 'payout', document: documentOf(file, payoutKind, token) }
    : { ...found, kind: 'payment', document: documentOf(file, paymentKind, token) };
}

function documentOf<Document extends DocumentEnvelope>(
  file: IndexFile,
  kind: DocumentKind<Document>,
  token: string,
): Document {
  const document = file.find(kind, token);
  // Both are written in one transaction.
  if (document === undefined) throw new InvariantViolation('attention without its document in the index');
  return document;
}
