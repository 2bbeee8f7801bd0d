/** The controls with which a tester plays customer, operator, fate and time. Behind the bearer key like the interface. */
import { amountSchema, apiError, type ApiError } from '@tollgate/payment-api';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { send } from './api-calls.ts';
import { isObject, readRequest } from './api-requests.ts';
import {
  refusal,
  success,
  toServiceDispute,
  toServicePayment,
  type Answer,
  type ProcessingUrl,
} from './answers.ts';
import { cardBehaviour, looksLikeCardNumber } from './cards.ts';
import type { Disputed, Disputes } from './disputes.ts';
import { faultsSchema, type Faults } from './faults.ts';
import { readLedger, type LedgerDeps } from './ledger.ts';
import type { Changed, PaymentChanges } from './payment-changes.ts';
import type { Merchant } from './storage/merchants-table.ts';

export interface SandboxRoutesDeps extends LedgerDeps {
  changes: PaymentChanges;
  disputing: Disputes;
  faults: Faults;
  /** Moves the service's time, durably, and does what has fallen due by it. Gives the new time. */
  advanceClock: (byMs: number) => Promise<number>;
  processingUrl: ProcessingUrl;
  merchantOf: (request: FastifyRequest) => Merchant;
}

const outcomes = ['approved', 'declined'] as const;
const payerSchema = z.strictObject({
  pan: z.string().refine(looksLikeCardNumber, 'must be 12 to 19 digits').optional(),
  outcome: z.enum(outcomes).optional(),
});
const revisionSchema = z.strictObject({ status: z.enum(outcomes), amount: amountSchema.optional() });
const yearMs = 366 * 24 * 60 * 60_000;
const clockSchema = z.strictObject({ advanceMs: z.int().min(0).max(yearMs) });
const disputeSchema = z.strictObject({
  token: z.string().min(1).max(128),
  amount: amountSchema.optional(),
  reasonCode: z.string().min(1).max(64).optional(),
});
const resolutionSchema = z.strictObject({ status: z.enum(outcomes) });
const ledgerQuerySchema = z.strictObject({ orderNumber: z.string().min(1).max(255).optional() });

type Handle = (request: FastifyRequest, merchant: Merchant) => Answer | Promise<Answer>;

export function registerSandboxRoutes(app: FastifyInstance, deps: SandboxRoutesDeps): void {
  const { faults, advanceClock } = deps;
  const route = (handle: Handle) => async (request: FastifyRequest, reply: FastifyReply) =>
    send(reply, await handle(request, deps.merchantOf(request)));

  app.post('/sandbox/payments/:token/pay', route(pay(deps)));
  app.post('/sandbox/payments/:token/revise', route(revise(deps)));
  app.post(
    '/sandbox/faults',
    route(({ body }, merchant) => {
      const read = readRequest(faultsSchema, body);
      if (read.faults !== undefined) return refusal(...read.faults);
      if (!faults.add(merchant.id, read.value)) return refusal(tooManyFaults());
      return success({ faults: faults.list(merchant.id) });
    }),
  );
  app.delete(
    '/sandbox/faults',
    route((_request, merchant) => {
      faults.clear(merchant.id);
      return success({ faults: [] });
    }),
  );
  app.post(
    '/sandbox/clock',
    route(async ({ body }) => {
      const read = readRequest(clockSchema, body);
      if (read.faults !== undefined) return refusal(...read.faults);
      return success({ now: new Date(await advanceClock(read.value.advanceMs)).toISOString() });
    }),
  );
  app.post('/sandbox/disputes', route(openDispute(deps)));
  app.post('/sandbox/disputes/:id/resolve', route(resolveDispute(deps)));
  app.get(
    '/sandbox/ledger',
    route(({ query }, merchant) => {
      const read = readRequest(ledgerQuerySchema, query);
      if (read.faults !== undefined) return refusal(...read.faults);
      return success(readLedger(deps, merchant.id, read.value.orderNumber));
    }),
  );
}

function pay({ changes, processingUrl }: SandboxRoutesDeps): Handle {
  return async (request, merchant) => {
    const read = readRequest(payerSchema, request.body);
    if (read.faults !== undefined) return refusal(...read.faults);
    const { pan, outcome } = read.value;
    if (pan !== undefined && outcome !== undefined) return refusal(panOrOutcome('outcome'));
    const how = pan === undefined ? outcome : cardBehaviour(pan);
    if (how === undefined) return refusal(panOrOutcome('pan'));
    return toAnswer(await changes.pay(merchant, tokenIn(request), how), processingUrl);
  };
}

function revise({ changes, processingUrl }: SandboxRoutesDeps): Handle {
  return async (request, merchant) => {
    const read = readRequest(revisionSchema, request.body);
    if (read.faults !== undefined) return refusal(...read.faults);
    return toAnswer(await changes.revise(merchant, tokenIn(request), read.value), processingUrl);
  };
}

function openDispute({ disputing }: SandboxRoutesDeps): Handle {
  return async (request, merchant) => {
    const read = readRequest(disputeSchema, request.body);
    if (read.faults !== undefined) return refusal(...read.faults);
    return toDisputeAnswer(await disputing.open(merchant, read.value));
  };
}

function resolveDispute({ disputing }: SandboxRoutesDeps): Handle {
  return async (request, merchant) => {
    const read = readRequest(resolutionSchema, request.body);
    if (read.faults !== undefined) return refusal(...read.faults);
    const { id } = request.params as { id: string };
    return toDisputeAnswer(await disputing.resolve(merchant, id, read.value.status));
  };
}

const toDisputeAnswer = ({ dispute, refused }: Disputed): Answer =>
  refused === undefined ? success({ dispute: toServiceDispute(dispute) }) : refusal(refused);

const toAnswer = (changed: Changed, processingUrl: ProcessingUrl): Answer =>
  changed.refused === undefined
    ? success({ payment: toServicePayment(changed.payment, processingUrl) })
    : refusal(changed.refused);

const tokenIn = ({ params }: FastifyRequest): string => (isObject(params) ? String(params['token']) : '');

const panOrOutcome = (parameter: string): ApiError =>
  apiError('invalid_param', 'Give either pan or outcome.', parameter);

const tooManyFaults = (): ApiError =>
  apiError('invalid_param', 'body would bring the faults that are set to more than 1000.', 'body');
