/** A filtered list of payments as a CSV file, page by page, so that its length costs no memory. */
import type { OperationView } from '@tollgate/lists';
import { paymentColumns } from '@tollgate/gateway-api';
import { InvariantViolation } from '@tollgate/service-kit';
import { byteOrderMark, toCsvLine } from './csv.ts';
import type { ExportQuery } from './list-query.ts';
import { listOf, toShown } from './payment-lists.ts';
import type { ReadDependencies } from './reading.ts';

/** Read at once: a few milliseconds of work. */
const rowsPerPage = 25;

/** Since the first release: behind those that it had, for who reads by position. */
const addedColumns = ['metadata'];

/** Amounts are in minor units of the currency beside them, instants ISO 8601 in UTC. Fields that payouts lack are empty. */
const columns = [
  'operationType',
  ...paymentColumns.filter((name) => !addedColumns.includes(name)),
  ...['reviews', ...addedColumns],
];

/**
 * The text of the file in pieces, newest first. Every row is as of when its page is read: a payment that matches
 * throughout is in it exactly once, none twice, and payments created after the first page are not in it. It throws as
 * lists do, also halfway.
 */
export async function* exportedLines(
  { index, share }: Pick<ReadDependencies, 'index' | 'share'>,
  { operationType, query }: ExportQuery,
): AsyncGenerator<string, void, void> {
  let text = byteOrderMark + toCsvLine(columns);
  let cursor: string | undefined;
  do {
    const page = { ...query, perPage: rowsPerPage, ...(cursor === undefined ? {} : { cursor }) };
    const list = listOf(index, operationType, page);
    if (list.kind === 'refused') throw new InvariantViolation('a list has refused its own cursor');
    yield text + list.views.map(toLine).join('');
    text = '';
    cursor = list.nextCursor;
    // A fast client must not starve other requests.
    await share.giveWay();
  } while (cursor !== undefined);
}

function toLine(view: OperationView): string {
  const shown = { operationType: 'payment', ...toShown(view) };
  const cells: Readonly<Record<string, unknown>> = {
    ...shown,
    reviews: shown.reviews.map(({ code }) => code).join(' '),
  };
  return toCsvLine(columns.map((name) => toCell(cells[name])));
}

function toCell(value: unknown): string | number | undefined {
  if (value === undefined || typeof value === 'string' || typeof value === 'number') return value;
  return JSON.stringify(value);
}
