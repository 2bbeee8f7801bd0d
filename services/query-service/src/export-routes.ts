/** `GET /api/v1/payments.csv`: how many exports run, and how one ends before its time. */
import { Readable } from 'node:stream';
import { TollgateError, sendErrors, toErrorEntries } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import { parsePaymentExportQuery } from './list-query.ts';
import { awaitMinPosition } from './min-position.ts';
import { exportedLines } from './payment-export.ts';
import {
  forReaders,
  mayReadPayouts,
  paymentScopes,
  payoutsNotAllowed,
  type ReadDependencies,
} from './reading.ts';

/** Exports of one team, and of all teams, that run in one process at the same time. */
const runningPerTeamMax = 2;
const runningMax = 8;
const retryAfterSeconds = 10;

export interface ExportOptions {
  /** A client that takes nothing for so long is let go. */
  stalledMs: number;
}

export function registerExportRoutes(
  app: FastifyInstance,
  deps: ReadDependencies,
  { stalledMs }: ExportOptions,
): void {
  const { index } = deps;
  const running = createRunningExports();
  // They may take minutes, and the process is to end now. Their clients see the connection break off.
  app.addHook('preClose', async () => running.endAll());

  const exportPayments = forReaders(deps, paymentScopes, async (caller, request, reply) => {
    const parsed = parsePaymentExportQuery(caller, request.query);
    if (!parsed.success) return sendErrors(reply, 400, toErrorEntries(parsed.error));
    if (parsed.data.operationType !== 'pays' && !mayReadPayouts(caller))
      return sendErrors(reply, 403, [payoutsNotAllowed]);
    if (!(await awaitMinPosition(index, caller, request, reply))) return reply;
    if (!running.hasRoomFor(caller.team))
      return sendErrors(reply.header('retry-after', String(retryAfterSeconds)), 429, [tooManyExports]);
    const lines = exportedLines(index, parsed.data);
    const room = running.take(caller.team);
    // What cannot be begun is answered as it is for lists: after the first byte only a broken connection tells.
    const first = await lines.next().catch((error: unknown) => {
      room.giveBack();
      throw error;
    });
    const file = Readable.from(begunWith(first.value ?? '', lines), { objectMode: false });
    room.occupy(file);
    reply.raw.setTimeout(stalledMs, () => file.destroy(clientStalled()));
    return reply
      .type('text/csv; charset=utf-8; header=present')
      .header('content-disposition', 'attachment; filename="payments.csv"')
      .header('cache-control', 'no-store')
      .send(file);
  });

  app.get('/api/v1/payments.csv', exportPayments);
}

async function* begunWith(first: string, rest: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  yield first;
  yield* rest;
}

/** The exports that run, by team. */
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
        /** The room is free again when the file has ended, in whichever way. */
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
  new TollgateError('export_stalled', 'A client took nothing of its export any more.', { retryable: true });
const serverStops = () =>
  new TollgateError('export_cut', 'An export was cut off: the process stops.', { retryable: true });

const tooManyExports = {
  code: 'too_many_exports',
  kind: 'api_error',
  message: `So many exports run already; at most ${runningPerTeamMax} of a team do at the same time. Repeat this one later.`,
};
