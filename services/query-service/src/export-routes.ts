/** `GET /api/v1/payments.csv`: aborts exports that stall. */
import { Readable } from 'node:stream';
import { routes, sendError, addReadRoute } from '@tollgate/gateway-api/http';
import type { SecurityWatch } from '@tollgate/teams';
import { TollgateError } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { toListQuery } from './list-query.ts';
import { exportedLines } from './payment-export.ts';
import { mayReadPayouts, sendPayoutsNotAllowed, type ReadDependencies } from './reading.ts';

export interface ExportOptions {
  /** A client that reads nothing for so long is disconnected. */
  stalledMs: number;
  /** Resolves when it is on record who exports. */
  recordExport: SecurityWatch['recordExport'];
}

export function registerExportRoutes(
  app: FastifyInstance,
  deps: ReadDependencies,
  { stalledMs, recordExport }: ExportOptions,
): void {
  const running = createRunningExports();
  // Exports may take minutes, and the process must stop now. Their clients see the connection break.
  app.addHook('preClose', async () => running.endAll());

  addReadRoute(
    app,
    deps,
    routes.exportPayments,
    async ({ caller, query: { operationType, ...asked }, request, reply }) => {
      if (operationType !== 'pays' && !mayReadPayouts(caller)) return sendPayoutsNotAllowed(reply);
      // A request for the headers only reads nothing. A stream has no Content-Length, as the file has none.
      if (request.method === 'HEAD') return asFile(reply).send(Readable.from([]));
      if (running.isEnding()) return sendError(reply, 'too_many_reads');
      const lines = exportedLines(deps, { operationType, query: toListQuery(caller, asked) });
      const { team, keyId, environment } = caller;
      // A failure before the first byte is answered as for lists; after it, only a broken connection can signal one.
      const { ip: address } = request;
      const recorded = recordExport({ team, keyId, environment, address, route: routes.exportPayments.url });
      const first = await recorded.then(() => lines.next());
      const file = Readable.from(begunWith(first.value ?? '', lines), { objectMode: false });
      running.add(file);
      reply.raw.setTimeout(stalledMs, () => file.destroy(clientStalled()));
      return asFile(reply).send(file);
    },
  );
}

const asFile = (reply: FastifyReply): FastifyReply =>
  reply
    .type('text/csv; charset=utf-8; header=present')
    .header('content-disposition', 'attachment; filename="payments.csv"');

async function* begunWith(first: string, rest: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  yield first;
  yield* rest;
}

function createRunningExports() {
  const files = new Set<Readable>();
  let isEnding = false;
  return {
    isEnding: () => isEnding,
    add: (file: Readable) => {
      files.add(file);
      file.once('close', () => files.delete(file));
      if (isEnding) file.destroy(serverStops());
    },
    endAll: () => {
      isEnding = true;
      for (const file of files) file.destroy(serverStops());
    },
  };
}

const clientStalled = () =>
  new TollgateError('export_stalled', 'A client stopped reading its export.', { retryable: true });
const serverStops = () =>
  new TollgateError('export_cut', 'An export was cut short because the process is stopping.', {
    retryable: true,
  });
