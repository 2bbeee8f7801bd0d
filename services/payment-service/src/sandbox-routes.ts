/** The tester's controls for customer, operator, faults and time. They need the bearer key, like the API. */
import { amountSchema, type ApiError } from '@tollgate/core/money';
import { apiError } from '@tollgate/payment-api';
import type { Secret } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { send } from './api-calls.ts';
import { isObject, readRequest } from './api-requests.ts';
import {
  refusal,
  success,
  toIsoTime,
  toServiceDispute,
  toServicePayment,
  type Answer,
  type ProcessingUrl,
} from './answers.ts';
import { cardBehavior, looksLikeCardNumber } from './cards.ts';
import { faultsSchema, type Faults } from './faults.ts';
import type { Registration } from './keys.ts';
import { readLedger, type LedgerDeps } from './ledger.ts';
import type { MoneyMovements } from './money-movements.ts';
import type { Result } from './payment-changes.ts';
import type { Payment } from './payments.ts';
import type { Database } from './storage/database.ts';
import type { Merchant } from './storage/merchants-table.ts';
import type { Dispute } from './storage/tables.ts';

export interface SandboxRoutesDeps
  extends LedgerDeps, Pick<MoneyMovements, 'changes' | 'openDispute' | 'resolveDispute'> {
  faults: Faults;
  /** Registers a merchant if there is none of that name, and issues a key. */
  addMerchant: (registration: Registration) => { name: string; key: Secret };
  /** Advances the service's time, and does the work that falls due. Returns the new time. */
  advanceClock: (byMs: number) => number;
  database: Pick<Database, 'write'>;
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
const merchantSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[\p{L}\p{N} ._-]{1,64}$/u, 'must be 1 to 64 letters, digits, spaces, dots, hyphens'),
});
const ledgerQuerySchema = z.strictObject({ orderNumber: z.string().min(1).max(255).optional() });

/** Runs inside a transaction. */
type Handle = (request: FastifyRequest, merchant: Merchant) => Answer;

/** Refuses input that does not match the schema. */
const reading =
  <Schema extends z.ZodType>(
    schema: Schema,
    part: 'body' | 'query',
    handle: (value: z.infer<Schema>, merchant: Merchant, request: FastifyRequest) => Answer,
  ): Handle =>
  (request, merchant) => {
    const read = readRequest(schema, request[part]);
    return read.faults === undefined ? handle(read.value, merchant, request) : refusal(...read.faults);
  };

export function registerSandboxRoutes(app: FastifyInstance, deps: SandboxRoutesDeps): void {
  const { faults, advanceClock, changes, processingUrl } = deps;
  const on = (method: 'GET' | 'POST' | 'DELETE', path: string, handle: Handle) =>
    app.route({
      method,
      url: `/sandbox/${path}`,
      handler: async (request: FastifyRequest, reply: FastifyReply) =>
        send(
          reply,
          deps.database.write(() => handle(request, deps.merchantOf(request))),
        ),
    });
  const addFaults = reading(faultsSchema, 'body', (value, merchant) =>
    faults.add(merchant.id, value) ? success({ faults: faults.list(merchant.id) }) : refusal(tooManyFaults()),
  );
  const clearFaults: Handle = (_request, merchant) => {
    faults.clear(merchant.id);
    return success({ faults: [] });
  };
  const moveClock = reading(clockSchema, 'body', ({ advanceMs }) =>
    success({ now: toIsoTime(advanceClock(advanceMs)) }),
  );
  const showLedger = reading(ledgerQuerySchema, 'query', ({ orderNumber }, merchant) =>
    success(readLedger(deps, merchant.id, orderNumber)),
  );
  const revise = reading(revisionSchema, 'body', (to, merchant, request) =>
    toAnswer(changes.revise(merchant, parameterIn(request, 'token'), to), processingUrl),
  );
  const settle: Handle = (request, merchant) =>
    toAnswer(changes.settle(merchant, parameterIn(request, 'token')), processingUrl);
  const openDispute = reading(disputeSchema, 'body', (dispute, merchant) =>
    toDisputeAnswer(deps.openDispute(merchant, dispute)),
  );
  const resolveDispute = reading(resolutionSchema, 'body', ({ status }, merchant, request) =>
    toDisputeAnswer(deps.resolveDispute(merchant, parameterIn(request, 'id'), status)),
  );
  const addMerchant = reading(merchantSchema, 'body', (registration) => {
    const { name, key } = deps.addMerchant(registration);
    return success({ name, key: key.reveal() });
  });
  on('POST', 'merchants', addMerchant);
  on('POST', 'payments/:token/pay', pay(deps));
  on('POST', 'payments/:token/revise', revise);
  on('POST', 'payments/:token/settle', settle);
  on('POST', 'faults', addFaults);
  on('GET', 'faults', (_request, merchant) => success({ faults: faults.list(merchant.id) }));
  on('DELETE', 'faults', clearFaults);
  on('POST', 'clock', moveClock);
  on('POST', 'disputes', openDispute);
  on('POST', 'disputes/:id/resolve', resolveDispute);
  on('GET', 'ledger', showLedger);
}

const pay = ({ changes, processingUrl }: SandboxRoutesDeps): Handle =>
  reading(payerSchema, 'body', ({ pan, outcome }, merchant, request) => {
    if (pan !== undefined && outcome !== undefined) return refusal(panOrOutcome('outcome'));
    const how = pan === undefined ? outcome : cardBehavior(pan);
    if (how === undefined) return refusal(panOrOutcome('pan'));
    return toAnswer(changes.pay(merchant, parameterIn(request, 'token'), how), processingUrl);
  });

const toDisputeAnswer = ({ value, refused }: Result<Dispute>): Answer =>
  refused === undefined ? success({ dispute: toServiceDispute(value) }) : refusal(refused);

const toAnswer = ({ value, refused }: Result<Payment>, processingUrl: ProcessingUrl): Answer =>
  refused === undefined ? success({ payment: toServicePayment(value, processingUrl) }) : refusal(refused);

const parameterIn = ({ params }: FastifyRequest, name: string): string =>
  isObject(params) ? String(params[name]) : '';

const panOrOutcome = (parameter: string): ApiError =>
  apiError('invalid_param', 'Give either pan or outcome.', parameter);

const tooManyFaults = (): ApiError =>
  apiError('invalid_param', 'body would bring the faults that are set to more than 1000.', 'body');
