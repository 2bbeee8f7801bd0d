/**
 * Readers of the service's answers, one for each operation. An answer about another subject is a fault, like an unreadable one;
 * amounts and statuses
 * are passed on unchanged.
 */
import type { AnswerReader } from './classify.ts';
import {
  balanceAnswerSchema,
  createPaymentAnswerSchema,
  holdEndAnswerSchema,
  listDisputesAnswerSchema,
  serviceDisputeSchema,
  listPaymentsAnswerSchema,
  listPayoutsAnswerSchema,
  payoutAnswerSchema,
  refundAnswerSchema,
  retrievePaymentAnswerSchema,
  retrievePayoutAnswerSchema,
  type CreatePaymentAnswer,
  type ListPaymentsAnswer,
  type PayoutAnswer,
  type RefundAnswer,
  type ServiceBalance,
  type ServiceDispute,
  type ServicePayment,
  type ServicePayout,
} from '@tollgate/payment-api';
import { pageRows, type Page, type PageQuery } from '@tollgate/core';
import { isSecretToken } from './secrets.ts';

/** Reads a body of this schema. @param what is missing in any other body */
const reader =
  <Data, Answer>(
    schema: { safeParse(body: unknown): { data?: Data | undefined } },
    what: string,
    check: (data: Data) => ReturnType<AnswerReader<Answer>>,
  ): AnswerReader<Answer> =>
  (body) => {
    const { data } = schema.safeParse(body);
    return data === undefined ? { fault: `success without ${what}` } : check(data);
  };

/** Reads the answer of a creation; without a token it is invalid. */
export const readCreation: AnswerReader<CreatePaymentAnswer> = reader(
  createPaymentAnswerSchema,
  'a readable token and payment',
  (data) => (isSecretToken(data.token) ? tokenIsSecret : { answer: data }),
);

/** The service created something, under a name that we must not store. */
const tokenIsSecret = { fault: 'success with a secret as token' };

const anotherPayment = { fault: 'answer about another payment' };

/** Reads the answer of a retrieval; one about another payment must not move this one. */
export const readPayment = (token: string): AnswerReader<ServicePayment> =>
  reader(retrievePaymentAnswerSchema, 'a readable payment', ({ payment }) =>
    payment.token === token ? { answer: payment } : anotherPayment,
  );

/** Reads the answer of a confirmation or a decline of a two-step payment, in which some deployments omit the payment. */
export const readHoldEnd = (token: string): AnswerReader<ServicePayment | undefined> =>
  reader(holdEndAnswerSchema, 'a readable payment', ({ token: named, payment }) =>
    [named, payment?.token].some((other) => other !== undefined && other !== token)
      ? anotherPayment
      : { answer: payment },
  );

/**
 * Reads the answer of a refund. A refund has its own token (section 2), so one with its payment's token identifies no refund,
 * and two that differ
 * identify none reliably.
 */
export const readRefund = (paymentToken: string): AnswerReader<RefundAnswer> =>
  reader(refundAnswerSchema, 'a readable refund', (data) => {
    const { token, refund, payment } = data;
    if (isSecretToken(token)) return tokenIsSecret;
    if (payment?.token !== undefined && payment.token !== paymentToken) return anotherPayment;
    if (token !== refund.token || token === paymentToken)
      return { fault: 'success without a token of the refund' };
    return { answer: data };
  });

/** Reads the answer of a payout; one with another order number may be foreign. */
export const readPayoutCreation = (orderNumber: string): AnswerReader<PayoutAnswer> =>
  reader(payoutAnswerSchema, 'a readable payout', (data) => {
    const { payout } = data;
    if (isSecretToken(payout.token)) return tokenIsSecret;
    return isOf(orderNumber, payout) && mayBePayout(payout) ? { answer: data } : anotherPayout;
  });

const anotherPayout = { fault: 'answer about another payout' };

const isOf = (orderNumber: string, payout: ServicePayout): boolean =>
  payout.orderNumber === undefined || payout.orderNumber === null || payout.orderNumber === orderNumber;

/** False for a row of another declared kind. Payouts are listed among payments, and not every deployment marks them. */
const mayBePayout = ({ operationType }: ServicePayout): boolean =>
  operationType === undefined || operationType === null || /^payouts?$/i.test(operationType);

/** Reads the answer of a payout's retrieval: the service shows it as `payment`. */
export const readPayout = (token: string): AnswerReader<ServicePayout> =>
  reader(retrievePayoutAnswerSchema, 'a readable payout', ({ payment }) =>
    payment.token === token && mayBePayout(payment) ? { answer: payment } : anotherPayout,
  );

/** Reads a list of payments; see {@link found}. */
export const readPayments = (orderNumber: string): AnswerReader<ServicePayment[]> =>
  reader(listPaymentsAnswerSchema, 'readable payments', (data) =>
    found(data, (payment) => payment.orderNumber === orderNumber),
  );

/** Reads a list of payouts; see {@link found}. */
export const readPayouts = (orderNumber: string): AnswerReader<ServicePayout[]> =>
  reader(listPayoutsAnswerSchema, 'readable payouts', (data) =>
    found(data, (payout) => payout.orderNumber === orderNumber && mayBePayout(payout)),
  );

/**
 * The request of a list. Foreign rows show that the filter was ignored, and a larger count shows hidden rows: then "not found"
 * is not proven, only
 * found rows are.
 */
function found<Listed extends { token: string }>(
  list: { payments: Listed[]; totalCount?: number | undefined },
  isAskedFor: (listed: Listed) => boolean,
): ReturnType<AnswerReader<Listed[]>> {
  const matches = list.payments.filter(isAskedFor);
  if (matches.some(({ token }) => isSecretToken(token))) return tokenIsSecret;
  if (matches.length > 0) return { answer: matches };
  if (list.payments.length > 0) return { fault: 'list of other order numbers' };
  return (list.totalCount ?? 0) > 0 ? { fault: 'list without all its rows' } : { answer: [] };
}

export type ComparableRow = ServicePayment & { amount: number; currency: string };

/** Reads one page of all payments of some days; see {@link pageOf}. */
export const readPageOfPayments = (query: PageQuery): AnswerReader<Page<ComparableRow>> =>
  reader(listPaymentsAnswerSchema, 'readable payments', (data) => {
    const { payments } = data;
    return payments.every(isComparable)
      ? pageOf({ ...data, payments }, query, (payment) => !isMarkedAsPayout(payment))
      : { fault: 'list without amounts' };
  });

const isComparable = (row: ServicePayment): row is ComparableRow =>
  typeof row.amount === 'number' && typeof row.currency === 'string';

/** Reads one page of all payouts of some days; see {@link pageOf}. */
export const readPageOfPayouts = (query: PageQuery): AnswerReader<Page<ServicePayout>> =>
  reader(listPayoutsAnswerSchema, 'readable payouts', (data) => pageOf(data, query, mayBePayout));

const isMarkedAsPayout = ({ operationType }: ServicePayment): boolean =>
  typeof operationType === 'string' && /^payouts?$/i.test(operationType);

interface Listed {
  createdAt?: string | null | undefined;
}

/**
 * The requested page. A row of another kind or day shows that a filter was ignored; another page number, or fewer rows than the
 * count implies, shows
 * that rows are missing: such a page proves nothing.
 */
function pageOf<Row extends Listed>(
  list: Pick<ListPaymentsAnswer, 'totalCount' | 'page' | 'perPage'> & { payments: Row[] },
  { from, to, page }: PageQuery,
  isOfKind: (row: Row) => boolean,
): ReturnType<AnswerReader<Page<Row>>> {
  const { payments: rows, totalCount: total } = list;
  if (rows.length > pageRows || (list.page ?? page) !== page || (list.perPage ?? pageRows) !== pageRows)
    return { fault: 'list of another page' };
  if (!rows.every(isOfKind)) return { fault: 'list of other operations' };
  if (!rows.every((row) => isOnDays(row, from, to))) return { fault: 'list of other days' };
  if (total === undefined) return { answer: { found: rows } };
  const rowsToShow = Math.min(pageRows, total - (page - 1) * pageRows);
  return rows.length < rowsToShow
    ? { fault: 'list without all its rows' }
    : { answer: { found: rows, total } };
}

/** True also if the row shows no time. */
function isOnDays({ createdAt }: Listed, from: string, to: string): boolean {
  const instant = Date.parse(createdAt ?? '');
  if (Number.isNaN(instant)) return true;
  const day = new Date(instant).toISOString().slice(0, 10);
  return from <= day && day <= to;
}

/** Reads a balance: the amounts of the requested currency, and of no other. */
export const readBalance = (currency: string): AnswerReader<ServiceBalance> =>
  reader(balanceAnswerSchema, 'a readable balance', ({ wallet }) =>
    wallet.currency === currency ? { answer: wallet } : { fault: 'answer about another currency' },
  );

export interface ReadDisputes {
  found: ServiceDispute[];
  unreadable: number;
}

/** Reads the newest disputes. One that cannot be read does not hide the others. */
export const readDisputes: AnswerReader<ReadDisputes> = (body) => {
  const { success, data } = listDisputesAnswerSchema.safeParse(body);
  const rows = success ? data.disputes : [];
  const found = rows.flatMap((row) => serviceDisputeSchema.safeParse(row).data ?? []);
  if (!success || (found.length === 0 && rows.length > 0))
    return { fault: 'success without readable disputes' };
  return { answer: { found, unreadable: rows.length - found.length } };
};
