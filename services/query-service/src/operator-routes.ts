/** Reads across teams, for operators. */
import {
  type Payment,
  inquiryNeedOf,
  isAllowed,
  machineStateOf,
  refundableAmount,
  undecidedRefund,
  callWithoutOutcome,
  isToken,
} from '@tollgate/core';
import { minorUnitDigits } from '@tollgate/core/money';
import { toIso, toPublicDispute, toPublicPayment, toPublicReviewEntry } from '@tollgate/gateway-api';
import {
  type OperatorAction,
  type OperatorPaymentAnswer,
  routes,
  sendError,
  addReadRoute,
  parameterOf,
  sendRefusedPage,
} from '@tollgate/gateway-api/http';
import { omitUndefined } from '@tollgate/service-kit';
import { type Reach, type TeamKey, isExpired, readAuditPage } from '@tollgate/teams';
import { type PaymentView, foldStream, paymentKind } from '@tollgate/views';
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { fileColumns, toFileCells } from './payment-lists.ts';
import { ofTeams, ownersIn } from './list-query.ts';
import type { ListRoutes } from './list-routes.ts';
import { search } from './operator-search.ts';
import { type ReadDependencies } from './reading.ts';
import { type RequestLedger, type RequestRecord, toPublicRequest } from '@tollgate/requests';

export type OperatorReadDependencies = ReadDependencies & {
  requests: Pick<RequestLedger, 'find' | 'creations'>;
};

type PaymentsAsked = z.infer<(typeof routes.exportPaymentsOfAll)['query']>;

export function registerOperatorRoutes(
  app: FastifyInstance,
  deps: OperatorReadDependencies,
  { addList, addFile }: ListRoutes,
): void {
  const { store, index } = deps;
  const payments = { name: 'payments', list: index.listPayments } as const;
  const asked = <Query extends PaymentsAsked>(call: { reach: Reach; query: Query }) => {
    const { amountFrom, amountTo, account, sanitizedMask, declineReason, ...query } = call.query;
    return { ...ofTeams(deps, { reach: call.reach, query }), accepts: acceptsOf(call.query) };
  };

  addList(routes.listPaymentsOfAll, { ...payments, toShown: toOwned }, asked);
  addFile(
    routes.exportPaymentsOfAll,
    {
      ...payments,
      columns: ['team', 'environment', 'account', ...fileColumns],
      toCells: (view) => ({ ...toFileCells(view), ...ownerOf(view) }),
    },
    asked,
  );

  addReadRoute(app, deps, routes.retrievePaymentOfAny, async ({ request, reach, reply }) => {
    const token = parameterOf(request, 'token');
    // From its events: the allowed actions must not be stale.
    const view = isToken(token) ? await foldStream(store, paymentKind, token) : undefined;
    if (view === undefined || !reach.includes(view.payment)) return sendError(reply, 'payment_not_found');
    const disputes = index.disputesOf(token).map(toPublicDispute);
    return reply.send({ ...toDetail(view, index.nextInquiryAt(token)), disputes });
  });

  addSearch(app, deps);
  addSecurityLog(app, deps);
  addTeamNames(app, deps);
}

function addSearch(app: FastifyInstance, deps: OperatorReadDependencies): void {
  addReadRoute(app, deps, routes.searchAll, async ({ query: { q }, reach, reply }) => {
    const { hits, request, isPartial } = await search(deps, { reach, owners: ownersIn(deps, reach) }, q);
    return reply.send({
      success: true,
      hits,
      ...omitUndefined({ request: request && toOwnedRequest(request), isPartial }),
    });
  });
}

function addTeamNames(app: FastifyInstance, deps: OperatorReadDependencies): void {
  const { directory, clock } = deps;
  addReadRoute(app, deps, routes.listTeamNames, async ({ reach, reply }) => {
    const teams = directory.names().filter(reach.includesTeam).toSorted();
    const isActive = (key: TeamKey) => key.active && !isExpired(key, clock.now());
    const withoutKey = teams.filter((name) => directory.find(name)?.keys.some(isActive) !== true);
    return reply.send({ success: true, teams, withoutKey });
  });
}

function addSecurityLog(app: FastifyInstance, deps: OperatorReadDependencies): void {
  addReadRoute(app, deps, routes.listSecurityLog, async ({ query, reach, reply }) => {
    const { perPage, cursor, ...filters } = query;
    if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) return sendRefusedPage(reply, 'cursor');
    const before = cursor === undefined ? undefined : Number(cursor);
    const page = await readAuditPage(deps.store, {
      ...omitUndefined(filters),
      before,
      limit: perPage,
      reach,
    });
    const { next, checked, faultAt } = page;
    const entries = page.entries.map(({ at, actor, ...entry }) => ({
      ...entry,
      at: toIso(at),
      ...omitUndefined({ actor }),
    }));
    const nextCursor = next === undefined ? undefined : String(next);
    return reply.send({
      success: true,
      entries,
      checked,
      perPage,
      ...omitUndefined({ faultAt, nextCursor }),
    });
  });
}

const toOwnedRequest = (record: RequestRecord) => ({
  ...toPublicRequest(record),
  team: record.caller?.team ?? '',
});

const toOwned = (view: PaymentView) => ({ ...toPublicPayment(view), ...ownerOf(view) });

const ownerOf = ({ payment: { team, environment, attempt } }: PaymentView) => ({
  team,
  environment,
  account: attempt.account,
});

/** By what no index of the lists knows. */
function acceptsOf({ amountFrom, amountTo, account, sanitizedMask, declineReason }: PaymentsAsked) {
  const least = amountFrom === undefined ? undefined : inParts(amountFrom);
  const most = amountTo === undefined ? undefined : inParts(amountTo);
  return ({
    payment: { terms, attempt, sanitizedMask: mask, declineReason: reason },
  }: PaymentView): boolean =>
    (least === undefined || partsOf(terms) >= least) &&
    (most === undefined || partsOf(terms) <= most) &&
    (account === undefined || attempt.account === account) &&
    (declineReason === undefined || reason === declineReason) &&
    (sanitizedMask === undefined || mask?.endsWith(sanitizedMask) === true);
}

/** Amounts of all currencies are compared in parts of which 10,000 are a whole unit: no currency has smaller ones. */
const partDigits = 4;

function inParts(decimal: string): bigint {
  const [whole = '', fraction = ''] = decimal.split('.');
  return BigInt(`${whole}${fraction.padEnd(partDigits, '0')}`);
}

const partsOf = ({ amount, currency }: Payment['terms']): bigint =>
  BigInt(amount) * 10n ** BigInt(partDigits - (minorUnitDigits(currency) ?? 2));

function toDetail(view: PaymentView, dueAt: number | undefined): Omit<OperatorPaymentAnswer, 'disputes'> {
  const { payment } = view;
  const call = callInFlight(payment);
  const nextInquiryAt = dueAt === undefined ? undefined : toIso(dueAt);
  return {
    success: true,
    payment: toOwned(view),
    machine: { ...machineStateOf(payment) },
    refundableAmount: refundableAmount(payment),
    actions: actionsOf(payment),
    reviews: payment.reviews.map((_review, place) =>
      toPublicReviewEntry({
        kind: 'payment',
        place,
        since: view.reviewsSince[place] ?? view.updatedAt,
        view,
      }),
    ),
    ...omitUndefined({ call, nextInquiryAt }),
  };
}

function callInFlight(payment: Payment): OperatorPaymentAnswer['call'] {
  const window = callWithoutOutcome(payment);
  if (window === undefined || inquiryNeedOf(payment) !== 'unresolved') return undefined;
  const operation = undecidedRefund(payment) === undefined ? operations[payment.phase] : undefined;
  const { sendBy, answerBy, quietUntil } = window;
  const times = { sendBy: toIso(sendBy), answerBy: toIso(answerBy), quietUntil: toIso(quietUntil) };
  return { operation: operation ?? 'refund', ...times };
}

const operations: Readonly<Record<string, string>> = {
  requested: 'authorize',
  unresolved: 'authorize',
  capturing: 'capture',
  voiding: 'void',
};

/** Of what a person may set off, what the machine allows now. */
function actionsOf(payment: Payment): OperatorAction[] {
  const isAuthorized = payment.phase === 'authorized';
  const mayRefund = refundableAmount(payment) > 0 && isAllowed(payment, { type: 'RefundSubmitted' });
  return [
    ...(isAuthorized ? (['capture', 'void'] as const) : []),
    ...(mayRefund ? (['refund'] as const) : []),
    'inquire',
  ];
}
