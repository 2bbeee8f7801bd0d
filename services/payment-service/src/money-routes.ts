/** The routes of refunds, payouts, balance and disputes (specification, section 4), behind the bearer key. */
import { balanceQuerySchema, refundRequestSchema } from '@tollgate/payment-api';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { createApiCall, type ApiCallDeps, type Ending, type HandleCall } from './api-calls.ts';
import { readPayout, readRequest } from './api-requests.ts';
import { payoutAnswer, refundAnswer, refusal, success, toServiceDispute } from './answers.ts';
import type { LedgerAccounts } from './ledger-accounts.ts';
import type { PaidOut, Payouts } from './payouts.ts';
import type { Refunded, Refunds } from './refunds.ts';
import type { Dispute, RecordsTable } from './storage/records-table.ts';

export interface MoneyRoutesDeps extends ApiCallDeps {
  refunding: Refunds;
  payingOut: Payouts;
  accounts: Pick<LedgerAccounts, 'wallet'>;
  disputes: Pick<RecordsTable<Dispute>, 'list'>;
}

const listedDisputesMax = 100;
const disputesQuerySchema = z.strictObject({});

export function registerMoneyRoutes(app: FastifyInstance, deps: MoneyRoutesDeps): void {
  const call = createApiCall(deps);
  app.post('/api/v1/refunds', call('refund', refundPayment(deps)));
  app.post('/api/v1/payouts', call('payout', startPayout(deps)));
  app.get('/api/v1/balance', call('balance', readBalance(deps)));
  app.get('/api/v1/disputes/list', call('disputes', listDisputes(deps)));
}

function refundPayment({ refunding }: MoneyRoutesDeps): HandleCall {
  const toEnding = ({ refund, refused }: Refunded): Ending => {
    if (refused !== undefined) return { answer: refusal(refused) };
    const { token, orderNumber } = refund;
    return { answer: refundAnswer(refund), effect: 'created', token, orderNumber };
  };
  return async (request, merchant, note) => {
    const read = readRequest(refundRequestSchema, request.body);
    if (read.faults !== undefined) return { answer: refusal(...read.faults) };
    const refunded = await refunding.refund(merchant, read.value, (result) => note(toEnding(result)));
    return { ...toEnding(refunded), isNoted: true };
  };
}

function startPayout({ payingOut, now }: MoneyRoutesDeps): HandleCall {
  const toEnding = ({ payout, refused }: PaidOut): Ending =>
    refused === undefined
      ? { answer: payoutAnswer(payout), effect: 'created', token: payout.token }
      : { answer: refusal(refused) };
  return async (request, merchant, note) => {
    const read = readPayout(request.body, now());
    if (read.faults !== undefined) return { answer: refusal(...read.faults) };
    const paidOut = await payingOut.payOut(merchant, read.value, (result) => note(toEnding(result)));
    return { ...toEnding(paidOut), isNoted: true };
  };
}

function readBalance({ accounts }: MoneyRoutesDeps): HandleCall {
  return (request, merchant) => {
    const read = readRequest(balanceQuerySchema, request.query);
    if (read.faults !== undefined) return { answer: refusal(...read.faults) };
    const wallet = accounts.wallet({ merchantId: merchant.id, currency: read.value.currency });
    return { answer: success({ wallet }) };
  };
}

function listDisputes({ disputes }: MoneyRoutesDeps): HandleCall {
  return (request, merchant) => {
    const read = readRequest(disputesQuerySchema, request.query);
    if (read.faults !== undefined) return { answer: refusal(...read.faults) };
    const newest = disputes.list(merchant.id, undefined, listedDisputesMax);
    return { answer: success({ disputes: newest.map(toServiceDispute) }) };
  };
}
