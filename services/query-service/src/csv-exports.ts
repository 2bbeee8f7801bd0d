/** Routes that answer with a CSV file, written page by page so that its length costs no memory. Aborts exports that stall. */
import { addAbortListener } from 'node:events';
import { Readable } from 'node:stream';
import { sendError, addReadRoute, type Call, type Route } from '@tollgate/gateway-api/http';
import type { ViewList } from '@tollgate/lists';
import type { SecurityWatch } from '@tollgate/teams';
import {
  InvariantViolation,
  TollgateError,
  dayMs,
  omitUndefined,
  type ReadShare,
} from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type Cell, byteOrderMark, decimal, toCsvLine } from './csv.ts';
import { type ReadDependencies } from './reading.ts';

export interface ExportOptions {
  /** A client that reads nothing for this long is disconnected. */
  stalledMs: number;
  /** Resolves when the exporter is recorded. */
  recordExport: SecurityWatch['recordExport'];
}

type Lines = AsyncGenerator<string, void, void>;

/** A file is named after its team and its time: `payments-shop-2030-01.csv`. */
export type ExportName = 'payments' | 'refunds' | 'disputes' | 'journal' | 'statements';

/** Adds a route for a file of this name. `linesOf` is undefined for a call that it has refused. */
export type AddExport = <Stated extends Route>(
  route: Stated,
  name: ExportName,
  linesOf: (call: Call<Stated>) => Lines | undefined,
) => void;

export function createExports(
  app: FastifyInstance,
  deps: ReadDependencies,
  { stalledMs, recordExport }: ExportOptions,
): AddExport {
  const stopping = new AbortController();
  // Exports may take minutes, and the process must stop now. Their clients see a broken connection.
  app.addHook('preClose', async () => stopping.abort());

  return (route, name, linesOf) =>
    addReadRoute(app, deps, route, async (call) => {
      const { caller, request, reply } = call;
      const lines = linesOf(call);
      if (lines === undefined) return reply;
      const asFile = (): FastifyReply =>
        reply
          .type('text/csv; charset=utf-8; header=present')
          .header('content-disposition', `attachment; filename="${fileName(name, call)}"`);
      // A request for the headers only reads nothing. A stream has no Content-Length, and neither has the file.
      if (request.method === 'HEAD') return asFile().send(Readable.from([]));
      if (stopping.signal.aborted) return sendError(reply, 'too_many_reads');
      const { team, keyId, environment } = caller;
      // A failure before the first byte is answered as for lists; after it, only a broken connection can signal one.
      const recorded = recordExport({ team, keyId, environment, address: request.ip, route: route.url });
      const first = await recorded.then(() => lines.next());
      const file = Readable.from(begunWith(first.value ?? '', lines), { objectMode: false });
      const ending = addAbortListener(stopping.signal, () => file.destroy(serverStops()));
      file.once('close', () => ending[Symbol.dispose]());
      reply.raw.setTimeout(stalledMs, () => file.destroy(clientStalled()));
      return asFile().send(file);
    });
}

interface Asked {
  team?: unknown;
  month?: unknown;
  createdFrom?: unknown;
  createdBefore?: unknown;
  dateFrom?: unknown;
  dateTo?: unknown;
}

function fileName(name: ExportName, { query, caller }: { query: unknown; caller: { team: string } }): string {
  const asked = Object(query) as Asked;
  const { month, createdFrom, createdBefore, dateFrom, dateTo } = asked;
  const from = createdFrom ?? dateFrom;
  const before = createdBefore ?? (typeof dateTo === 'number' ? dateTo + dayMs : undefined);
  const owner = typeof asked.team === 'string' ? asked.team : caller.team;
  // A team that does not exist may have any name.
  const team = /^[a-z0-9-]+$/.test(owner) ? owner : 'all-teams';
  const period = typeof month === 'string' ? month : periodName(from, before);
  return `${[name, team, ...(period === undefined ? [] : [period])].join('-')}.csv`;
}

/** A month in UTC, or the first and the last day. */
function periodName(from: unknown, before: unknown): string | undefined {
  const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
  const first = typeof from === 'number' ? dayOf(from) : undefined;
  const last = typeof before === 'number' ? dayOf(before - 1) : undefined;
  if (first === undefined) return last && `until-${last}`;
  if (last === undefined) return `from-${first}`;
  const isMonth = first.endsWith('-01') && dayOf(Number(before)).endsWith('-01');
  return isMonth && first.slice(0, 7) === last.slice(0, 7) ? first.slice(0, 7) : `${first}-to-${last}`;
}

/** Read at once: a few milliseconds of work. */
const rowsPerPage = 25;

/** A page of a list that may be followed. */
interface ExportPage {
  perPage: number;
  cursor?: string;
}

/**
 * The text of a list in pieces, with a line for each entry. Every row has the state at the read of its page: an entry that
 * matches throughout is in it exactly once, and one created after the first page is not. It throws like
 * lists, even halfway.
 */
export const linesOfList = <Entry>(
  share: ReadShare,
  columns: readonly string[],
  list: (page: ExportPage) => ViewList<Entry> | Promise<ViewList<Entry>>,
  toCells: (entry: Entry) => Readonly<Record<string, unknown>>,
): Lines => {
  const header = columns.flatMap((name) => (isAmount(name) ? [name, `${name}Decimal`] : [name]));
  return textOfList(share, header, list, (entry) => {
    const cells = toCells(entry);
    const currency = String(cells['currency']);
    return toCsvLine(
      columns.flatMap((name) => {
        const cell = toCell(cells[name]);
        return isAmount(name) ? [cell, decimalOf(cell, currency)] : [cell];
      }),
    );
  });
};

/** Minor units, and the same amount in whole units. */
const isAmount = (column: string): boolean => /^(amount|.*Amount)$/.test(column);

const decimalOf = (cell: Cell, currency: string): Cell =>
  typeof cell === 'number' ? decimal(BigInt(cell), currency) : undefined;

/** As {@link linesOfList}, with any number of lines per entry. */
export async function* textOfList<Entry>(
  share: ReadShare,
  columns: readonly string[],
  list: (page: ExportPage) => ViewList<Entry> | Promise<ViewList<Entry>>,
  toText: (entry: Entry) => string,
): Lines {
  let text = byteOrderMark + toCsvLine(columns);
  let cursor: string | undefined;
  do {
    const page = await list({ perPage: rowsPerPage, ...omitUndefined({ cursor }) });
    if (page.kind === 'refused') throw new InvariantViolation('a list has refused its own cursor');
    yield text + page.views.map(toText).join('');
    text = '';
    cursor = page.nextCursor;
    // A fast client must not starve other requests.
    await share.giveWay();
  } while (cursor !== undefined);
}

/** Of reviews or errors, their codes. */
function toCell(value: unknown): string | number | undefined {
  if (value === undefined || typeof value === 'string' || typeof value === 'number') return value;
  if (Array.isArray(value)) return value.map(({ code }: { code: string }) => code).join(' ');
  return JSON.stringify(value);
}

async function* begunWith(first: string, rest: AsyncIterable<string>): Lines {
  yield first;
  yield* rest;
}

const clientStalled = () =>
  new TollgateError('export_stalled', 'A client stopped reading its export.', { retryable: true });
const serverStops = () =>
  new TollgateError('export_cut', 'An export was cut short because the process is stopping.', {
    retryable: true,
  });
