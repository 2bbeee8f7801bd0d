/** Adds routes that answer a list of the index: a page of it, or the whole list as a file. */
import {
  addReadRoute,
  sendRefusedPage,
  tellPosition,
  type Call,
  type Route,
} from '@tollgate/gateway-api/http';
import type { ViewList } from '@tollgate/lists';
import { omitUndefined } from '@tollgate/service-kit';
import type { ViewEnvelope } from '@tollgate/views';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type AddExport, type ExportName, linesOfList } from './csv-exports.ts';
import { type Paged, readInPieces } from './pieces.ts';
import type { ReadDependencies } from './reading.ts';

interface Listed<Row, Query> {
  /** Field of the entries. */
  name: string;
  list: (piece: Query) => ViewList<Row>;
  toShown: (row: Row) => unknown;
}

type Position = Pick<ViewEnvelope, 'position'>;

export type ListRoutes = ReturnType<typeof createListRoutes>;

export function createListRoutes(app: FastifyInstance, deps: ReadDependencies, addExport: AddExport) {
  const { share } = deps;

  async function sendPage<Row extends object, Query extends Paged>(
    reply: FastifyReply,
    query: Query,
    { name, list, toShown }: Listed<Row, Query>,
  ): Promise<FastifyReply> {
    const page = await readInPieces(share, query, list);
    if (page.kind === 'refused') return sendRefusedPage(reply, page.parameter);
    const { views, nextCursor, totalCount } = page;
    tellPosition(
      reply,
      views.filter((view): view is Row & Position => 'position' in view),
    );
    const counts = omitUndefined({ perPage: query.perPage, nextCursor, totalCount });
    return reply.send({ success: true, [name]: views.map(toShown), ...counts });
  }

  return {
    sendPage,
    addExport,
    addList: <Stated extends Route, Row extends object, Query extends Paged>(
      route: Stated,
      listed: Listed<Row, Query>,
      queryOf: (call: Call<Stated>) => Query,
    ): void => addReadRoute(app, deps, route, (call) => sendPage(call.reply, queryOf(call), listed)),
    addFile: <Stated extends Route, Row, Query extends object>(
      route: Stated,
      {
        name,
        list,
        columns,
        toCells,
      }: {
        name: ExportName;
        list: (piece: Query & Paged) => ViewList<Row>;
        columns: readonly string[];
        toCells: (row: Row) => Readonly<Record<string, unknown>>;
      },
      queryOf: (call: Call<Stated>) => Query,
    ): void =>
      addExport(route, name, (call) => {
        const query = queryOf(call);
        return linesOfList(
          share,
          columns,
          (page) => readInPieces(share, { ...query, ...page }, list),
          toCells,
        );
      }),
  };
}
