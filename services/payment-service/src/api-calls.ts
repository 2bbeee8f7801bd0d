/** One API call: its fault, its record, and its answer, in the required order. */
import type { Clock } from '@tollgate/service-kit';
import { apiError } from '@tollgate/payment-api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isObject } from './api-requests.ts';
import { refusal, type Answer } from './answers.ts';
import { answerFaults, type AnswerFault, type Faults, type Operation, type TakenFault } from './faults.ts';
import type { Database } from './storage/database.ts';
import type { Merchant } from './storage/merchants-table.ts';
import type { Tables } from './storage/tables.ts';

/** The outcome of a call for the ledger; the token is that of an existing payment, refund or payout. */
export interface Ending {
  answer: Answer;
  effect?: 'created' | 'confirmed' | 'declined';
  token?: string;
  orderNumber?: string | undefined;
}

/** Executes one operation, in one transaction with the record of its call. */
export type HandleCall = (request: FastifyRequest, merchant: Merchant) => Ending;

export interface ApiCallDeps {
  database: Pick<Database, 'write'>;
  calls: Pick<Tables['calls'], 'insert'>;
  faults: Faults;
  now: () => number;
  clock: Pick<Clock, 'sleep'>;
  /** Aborted when the service stops: a slow reply is then sent at once. */
  stopping: AbortSignal;
  merchantOf: (request: FastifyRequest) => Merchant;
}

const rateLimited: Answer = {
  statusCode: 429,
  body: {
    success: false,
    errors: [{ code: 'rate_limited', kind: 'api_error', message: 'Too many requests; slow down.' }],
  },
};
const failed = refusal(apiError('core_api_error', 'Something failed on our side.'));
const badGatewayPage =
  '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>';

/** Creates the route of an operation. */
export function createApiCall(deps: ApiCallDeps) {
  return (operation: Operation, handle: HandleCall) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const merchant = deps.merchantOf(request);
      const fault = deps.faults.take(merchant.id, operation, answerFaults);
      const instead = answerWithoutEffect(fault);
      const ending = deps.database.write(() => {
        const ended: Ending = instead === undefined ? handle(request, merchant) : { answer: instead };
        const { answer, effect = 'none' as const, token, orderNumber = orderNumberIn(request) } = ended;
        const call = { at: deps.now(), merchantId: merchant.id, operation, token, orderNumber, effect };
        deps.calls.insert({ ...call, answer: describeAnswer(answer, fault) });
        return ended;
      });
      if (instead === undefined) return sendWithFault(deps, reply, ending.answer, fault);
      return send(instead === rateLimited ? reply.header('retry-after', '1') : reply, instead);
    };
}

function answerWithoutEffect(fault: TakenFault<AnswerFault> | undefined): Answer | undefined {
  if (fault?.fault === 'error_before') return failed;
  return fault?.fault === 'rate_limited' ? rateLimited : undefined;
}

async function sendWithFault(
  deps: ApiCallDeps,
  reply: FastifyReply,
  answer: Answer,
  fault: TakenFault<AnswerFault> | undefined,
): Promise<FastifyReply> {
  switch (fault?.fault) {
    case 'error_after':
      return send(reply, failed);
    case 'html_502':
      return reply.code(502).type('text/html; charset=utf-8').send(badGatewayPage);
    case 'truncated_json':
      return reply
        .code(answer.statusCode)
        .type('application/json; charset=utf-8')
        .send(firstHalf(answer.body));
    case 'lost_reply':
      reply.hijack();
      reply.raw.socket?.destroy();
      return reply;
    case 'slow_reply':
      await deps.clock.sleep(fault.delayMs, deps.stopping).catch(() => undefined); // Rejects when we stop.
      return send(reply, answer);
    default:
      return send(reply, answer);
  }
}

export const send = (reply: FastifyReply, answer: Answer): FastifyReply =>
  reply.code(answer.statusCode).send(answer.body);

function firstHalf(body: object): string {
  const text = JSON.stringify(body);
  return text.slice(0, Math.floor(text.length / 2));
}

function describeAnswer(answer: Answer, fault: TakenFault<AnswerFault> | undefined): string {
  const instead = answerWithoutEffect(fault);
  if (fault !== undefined && instead === undefined && fault.fault !== 'slow_reply') return fault.fault;
  const { statusCode, body } = instead ?? answer;
  const errors = 'errors' in body && Array.isArray(body.errors) ? (body.errors as { code: string }[]) : [];
  return errors[0] === undefined ? String(statusCode) : `${statusCode} ${errors[0].code}`;
}

const orderNumberLengthMax = 255;

function orderNumberIn(request: FastifyRequest): string | undefined {
  for (const part of [request.body, request.query]) {
    const orderNumber = isObject(part) ? part['orderNumber'] : undefined;
    if (typeof orderNumber === 'string') return orderNumber.slice(0, orderNumberLengthMax);
  }
  return undefined;
}
