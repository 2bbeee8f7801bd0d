/** `GET /api/v1/payments.csv`: limits the running exports, and aborts those that stall. */
import { Readable } from 'node:stream';
import { routes, sendError } from '@tollgate/gateway-api/http';
import type { SecurityWatch } from '@tollgate/teams';
import { TollgateError } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { toListQuery } from './list-query.ts';
import { exportedLines } from './payment-export.ts';
import { addReadRoute, mayReadPayouts, sendPayoutsNotAllowed, type ReadDependencies } from './reading.ts';

/** The most concurrent exports in one process, of one team and of all teams. */
const runningPerTeamMax = 2;
const runningMax = 8;

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
  const { index } = deps;
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
      if (!running.hasRoomFor(caller.team))
        return sendError(reply, 'too_many_exports', { message: tooManyExports });
      const lines = exportedLines(index, { operationType, query: toListQuery(caller, asked) });
      const { team, keyId, environment } = caller;
      const room = running.take(team);
      // A failure before the first byte is answered as for lists; after it, only a broken connection can signal one.
      const { ip: address } = request;
      const recorded = recordExport({ team, keyId, environment, address, route: routes.exportPayments.url });
      const first = await recorded
        .then(() => lines.next())
        .catch((error: unknown) => {
          room.giveBack();
          throw error;
        });
      const file = Readable.from(begunWith(first.value ?? '', lines), { objectMode: false });
      room.occupy(file);
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

/** The running exports by team. */
function createRunningExports() {
  const counts = new Map<string, number>();
  const files = new Set<Readable>();
  let isEnding = false;
  const total = () => counts.values().reduce((sum, count) => sum + count, 0);

  function giveBack(team: string): void {
    const count = (counts.get(team) ?? 0) - 1;
    if (count > 0) counts.set(team, count);
    else counts.delete(team);
  }

  return {
    hasRoomFor: (team: string): boolean =>
      !isEnding && (counts.get(team) ?? 0) < runningPerTeamMax && total() < runningMax,
    take: (team: string) => {
      counts.set(team, (counts.get(team) ?? 0) + 1);
      return {
        giveBack: () => giveBack(team),
        /** The slot is released when the file ends, in whichever way. */
        occupy: (file: Readable) => {
          files.add(file);
          file.once('close', () => {
            files.delete(file);
            giveBack(team);
          });
        },
      };
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

const tooManyExports = `A team may run ${runningPerTeamMax} exports at the same time, and the gateway a few more. Repeat this one later.`;
