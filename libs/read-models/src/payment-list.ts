/** What a list of payments is asked by, what that is in SQL, and how one page leads to the next. */
import { createHash } from 'node:crypto';
import type { PaymentStatus } from '@tollgate/payment-api/values';
import type { Environment, PaymentPhase } from '@tollgate/payment-domain';
import type { PaymentDocument } from './payment-document.ts';

export const perPageMax = 500;
/** A page must end within this many rows; further down, only a cursor leads. */
export const pagedRowsMax = 10_000;
/** Rows are counted up to here. */
export const totalCountMax = 100_000;

export interface PaymentListQuery {
  environment: Environment;
  team: string;
  status?: PaymentStatus;
  phase?: PaymentPhase;
  orderNumber?: string;
  currency?: string;
  /** Milliseconds since the Unix epoch, inclusive. */
  createdFrom?: number;
  /** Milliseconds since the Unix epoch, exclusive. */
  createdBefore?: number;
  /** True: only those that wait for a person; false: only the others. */
  attention?: boolean;
  /** 1 to {@link perPageMax}. */
  perPage: number;
  /** `nextCursor` of the page before; then `page` does not count. */
  cursor?: string;
  /** From 1; 1 by default. */
  page?: number;
  withTotal?: boolean;
}

export type PaymentList =
  | {
      kind: 'page';
      /** Newest first. */
      documents: PaymentDocument[];
      /** Absent on the last page. */
      nextCursor?: string;
      /** Where asked for; {@link totalCountMax} stands for that many or more. */
      totalCount?: number;
    }
  | { kind: 'refused'; parameter: 'cursor' | 'page' };

export interface OpenPayment {
  token: string;
  phase: PaymentPhase;
  environment: Environment;
  team: string;
  /** When its last event was decided, milliseconds since the Unix epoch. */
  updatedAt: number;
}

export interface Condition {
  sql: string;
  values: (string | number)[];
}

/**
 * The rows of a query, whatever the page. One index leads to the rows of the most selective filter in the order of the
 * answer; the unary plus keeps SQLite, which has no statistics here, from choosing another one.
 */
export function toCondition(query: PaymentListQuery): Condition {
  const { environment, team, orderNumber, attention, phase, status, currency, createdFrom, createdBefore } =
    query;
  const filters = [
    { column: 'order_number', value: orderNumber },
    { column: 'phase', value: phase },
    { column: 'status', value: status },
    { column: 'currency', value: currency },
  ].filter((filter): filter is { column: string; value: string } => filter.value !== undefined);
  const isLedByAttention = attention === true && orderNumber === undefined;
  const terms: [string, ...(string | number)[]][] = [
    ['environment = ?', environment],
    ['team = ?', team],
    ...filters.map(({ column, value }, index) => {
      const term: [string, string] = [`${index === 0 && !isLedByAttention ? '' : '+'}${column} = ?`, value];
      return term;
    }),
  ];
  if (attention !== undefined) terms.push([`${isLedByAttention ? '' : '+'}attention = ${attention ? 1 : 0}`]);
  if (createdFrom !== undefined) terms.push(['created_at >= ?', createdFrom]);
  if (createdBefore !== undefined) terms.push(['created_at < ?', createdBefore]);
  return toSql(terms);
}

const toSql = (terms: [string, ...(string | number)[]][]): Condition => ({
  sql: terms.map(([sql]) => sql).join(' AND '),
  values: terms.flatMap(([, ...values]) => values),
});

/** Where a page begins: after this payment, in the order of the list. */
export interface Place {
  createdAt: number;
  token: string;
}

type Owner = Pick<PaymentListQuery, 'environment' | 'team'>;

/** A place as the caller carries it; it fits the lists of one team and environment only. */
export const formatCursor = (owner: Owner, place: Place): string =>
  Buffer.from(`${place.createdAt}.${place.token}.${checkOf(owner, place)}`).toString('base64url');

/** The place that a cursor names, or undefined for a text that is no cursor of this owner. */
export function parseCursor(owner: Owner, text: string): Place | undefined {
  const plain = Buffer.from(text.slice(0, 512), 'base64url').toString();
  const [, createdAt, token, check] = /^(\d{1,16})\.([\w-]{1,128})\.([0-9a-f]{16})$/.exec(plain) ?? [];
  if (createdAt === undefined || token === undefined) return undefined;
  const place = { createdAt: Number(createdAt), token };
  return check === checkOf(owner, place) ? place : undefined;
}

// Every list is limited to its team anyway; this tells a caller of another one that the cursor is not theirs.
function checkOf({ environment, team }: Owner, { createdAt, token }: Place): string {
  const text = JSON.stringify([environment, team, createdAt, token]);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** Where the asked page begins, or which parameter cannot be followed. */
export function pageOf(
  query: PaymentListQuery,
): { kind: 'rows'; after?: Place; skip: number } | { kind: 'refused'; parameter: 'cursor' | 'page' } {
  const { cursor, page = 1, perPage } = query;
  if (cursor !== undefined) {
    const after = parseCursor(query, cursor);
    return after === undefined ? { kind: 'refused', parameter: 'cursor' } : { kind: 'rows', after, skip: 0 };
  }
  if (page * perPage > pagedRowsMax) return { kind: 'refused', parameter: 'page' };
  return { kind: 'rows', skip: (page - 1) * perPage };
}
