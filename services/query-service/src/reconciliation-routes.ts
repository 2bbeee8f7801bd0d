/** Reconciliation reports, of a team and across teams. */
import { readLast } from '@tollgate/event-store';
import {
  type ReconciliationReport,
  type ReconciliationSummary,
  decodeReconciliationEvent,
  decodeReconciliationJournalEvent,
  evolveReconciliationReport,
  reconciliationJournal,
  reconciliationStream,
  toPublicDifferences,
  toPublicReconciliation,
} from '@tollgate/reconciliation';
import type { PublicDifference } from '@tollgate/gateway-api';
import { routes, sendError, addReadRoute, parameterOf, sendRefusedPage } from '@tollgate/gateway-api/http';
import { omitUndefined } from '@tollgate/service-kit';
import type { Caller, Reach } from '@tollgate/teams';
import { isOwnedBy, isToken } from '@tollgate/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { byteOrderMark, toCsvLine } from './csv.ts';
import { type ReadDependencies, withOwner } from './reading.ts';

/** Maximum journal entries visited per request: most are requests, or of other accounts. */
const passedOverMax = 5_000;

export function registerReconciliationRoutes(app: FastifyInstance, deps: ReadDependencies): void {
  addReadRoute(app, deps, routes.listReconciliations, ({ caller, query, reply }) =>
    sendJournal(deps, reply, query, { maySee: ownedBy(caller), toShown: toPublicReconciliation }),
  );
  addReadRoute(app, deps, routes.listReconciliationsOfAll, ({ query, reach, reply }) =>
    sendJournal(deps, reply, query, { maySee: within(reach), toShown: toOwned }),
  );
  addReadRoute(app, deps, routes.retrieveReconciliation, ({ caller, request, reply }) =>
    sendReport(deps, request, reply, { maySee: ownedBy(caller), toShown: toPublicReconciliation }),
  );
  addReadRoute(app, deps, routes.retrieveReconciliationOfAny, ({ request, reach, reply }) =>
    sendReport(deps, request, reply, { maySee: within(reach), toShown: toOwned }),
  );

  addReadRoute(app, deps, routes.exportReconciliation, async ({ caller, request, reply }) => {
    const found = await readReport(deps, ownedBy(caller), parameterOf(request, 'token'));
    if (found === undefined) return sendError(reply, 'reconciliation_not_found');
    return reply
      .type('text/csv; charset=utf-8; header=present')
      .header('content-disposition', 'attachment; filename="differences.csv"')
      .send([byteOrderMark, toCsvLine(columns), ...toPublicDifferences(found.report).map(toLine)].join(''));
  });
}

interface Reader {
  maySee: MaySee;
  toShown: (summary: ReconciliationSummary) => object;
}

async function sendJournal(
  deps: ReadDependencies,
  reply: FastifyReply,
  { perPage, cursor }: { perPage: number; cursor?: string | undefined },
  { maySee, toShown }: Reader,
): Promise<FastifyReply> {
  if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) return sendRefusedPage(reply, 'cursor');
  const before = cursor === undefined ? undefined : Number(cursor);
  const { shown, nextCursor } = await readJournal(deps, maySee, { perPage, before });
  const reconciliations = shown.map(toShown);
  return reply.send({ success: true, reconciliations, perPage, ...omitUndefined({ nextCursor }) });
}

async function sendReport(
  deps: ReadDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  { maySee, toShown }: Reader,
): Promise<FastifyReply> {
  const found = await readReport(deps, maySee, parameterOf(request, 'token'));
  if (found === undefined) return sendError(reply, 'reconciliation_not_found');
  const differences = toPublicDifferences(found.report);
  return reply.send({ success: true, reconciliation: { ...toShown(found.summary), differences } });
}

/** The visible part of the reconciliations. */
type MaySee = (summary: ReconciliationSummary) => boolean;

/** The newest that may be seen; `before` is the revision of the last one of the page before. */
async function readJournal(
  { store }: Pick<ReadDependencies, 'store'>,
  maySee: MaySee,
  { perPage, before }: { perPage: number; before: number | undefined },
): Promise<{ shown: ReconciliationSummary[]; nextCursor?: string }> {
  const last = before ?? ((await readLast(store, reconciliationJournal))?.revision ?? -1) + 1;
  if (last <= 0) return { shown: [] };
  const shown: ReconciliationSummary[] = [];
  let revision = last;
  const options = { from: last - 1, direction: 'backwards', limit: passedOverMax } as const;
  for await (const recorded of store.read(reconciliationJournal, options)) {
    ({ revision } = recorded);
    const { type, data } = decodeReconciliationJournalEvent(recorded);
    if (type === 'ReconciliationReported' && maySee(data)) shown.push(data);
    if (shown.length === perPage) break;
  }
  return { shown, ...(revision > 0 ? { nextCursor: String(revision) } : {}) };
}

/** Undefined for runs that have not ended, and for those that the caller must not see: their sums are another team's. */
async function readReport(
  { store }: Pick<ReadDependencies, 'store'>,
  maySee: MaySee,
  token: string,
): Promise<{ report: ReconciliationReport; summary: ReconciliationSummary } | undefined> {
  if (!isToken(token)) return undefined;
  let report: ReconciliationReport | undefined;
  for await (const recorded of store.read(reconciliationStream(token)))
    report = evolveReconciliationReport(report, decodeReconciliationEvent(recorded));
  if (report?.ended === undefined) return undefined;
  const { request, ended, startedAt, counts, sums } = report;
  const summary = { ...request, ...ended, startedAt, counts, sums: [...sums] };
  return maySee(summary) ? { report, summary } : undefined;
}

const ownedBy =
  (caller: Caller): MaySee =>
  (summary) =>
    isOwnedBy(summary, caller);

/** A report of an account with one team belongs to that team. */
const within =
  (reach: Reach): MaySee =>
  (summary) =>
    reach.isEverywhere || reach.includes(summary);

const toOwned = withOwner(toPublicReconciliation, (summary) => summary);

const columns = [
  ...['kind', 'operation', 'token', 'serviceToken', 'currency'],
  ...['statusHere', 'amountHere', 'refundedAmountHere'],
  ...['statusThere', 'amountThere', 'refundedAmountThere', 'isSettled'],
];

const toLine = (difference: PublicDifference): string => {
  const { kind, operation, token, serviceToken, currency, here, there, isSettled } = difference;
  return toCsvLine([
    ...[kind, operation, token, serviceToken, currency],
    ...[here?.status, here?.amount, here?.refundedAmount ?? undefined],
    ...[there?.status, there?.amount, there?.refundedAmount ?? undefined, String(isSettled)],
  ]);
};
