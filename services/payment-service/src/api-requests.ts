/** Parses API requests. Returns either the values or every fault with its parameter's name. */
import {
  apiError,
  createPaymentRequestSchema,
  listPaymentsQuerySchema,
  payoutRequestSchema,
  type ErrorCode,
  type ListPaymentsQuery,
} from '@tollgate/payment-api';
import { type ApiError } from '@tollgate/core/money';
import { toErrorEntries, dayMs } from '@tollgate/service-kit';
import type { z } from 'zod';
import { cardBehavior, isExpired, payoutBehavior } from './cards.ts';
import type { Creation } from './payment-changes.ts';
import type { PayoutTerms } from './money-movements.ts';
import type { RecordFilter } from './storage/tables.ts';

export type Read<Value> = { value: Value; faults?: never } | { faults: ApiError[]; value?: never };

const codeByParameter: ReadonlyMap<string, ErrorCode> = new Map([
  ['amount', 'incorrect_amount'],
  ['currency', 'incorrect_currency'],
]);

/** The body of a creation. The card number and the CVV are dropped here: only the card's behavior is passed on. */
export function readCreation(body: unknown, now: number): Read<Creation> {
  const read = readRequest(createPaymentRequestSchema, body);
  if (read.value === undefined) return read;
  const { card, recurringToken, customer: _customer, ...request } = read.value;
  if (card !== undefined && recurringToken !== undefined) return { faults: [cardOrToken()] };
  if (card !== undefined && isExpired(card.expires, now)) return { faults: [cardExpired('card.expires')] };
  if (card !== undefined) return { value: { request, paidWith: { card: cardBehavior(card.pan) } } };
  return { value: { request, paidWith: recurringToken === undefined ? undefined : { recurringToken } } };
}

/** The body of a payout. Card and account numbers are dropped here. */
export function readPayout(body: unknown, now: number): Read<PayoutTerms> {
  const read = readRequest(payoutRequestSchema, body);
  if (read.value === undefined) return read;
  const { destination, ...terms } = read.value;
  const { recurringToken, card } = destination;
  if (recurringToken !== undefined) return { value: { ...terms, destination: { recurringToken } } };
  if (card === undefined) return { value: { ...terms, destination: { outcome: 'approved' } } };
  if (isExpired(card.expires, now)) return { faults: [cardExpired('destination.card.expires')] };
  return { value: { ...terms, destination: payoutBehavior(card.pan) } };
}

/** The query of a list. */
export function readListQuery(query: unknown): Read<ListPaymentsQuery> {
  const read = readRequest(listPaymentsQuerySchema, query);
  if (read.value === undefined) return read;
  const { dateFrom, dateTo } = read.value;
  if (dateFrom === undefined || dateTo === undefined || dateFrom <= dateTo) return read;
  return { faults: [apiError('invalid_param', 'dateFrom must not be after dateTo.', 'dateFrom')] };
}

/** Parses a value; each fault becomes one error of section 7. */
export function readRequest<Schema extends z.ZodType>(schema: Schema, input: unknown): Read<z.infer<Schema>> {
  const result = schema.safeParse(input);
  if (result.success) return { value: result.data };
  const faults = toErrorEntries(result.error, (parameter) => codeByParameter.get(parameter));
  return { faults: faults.map(withoutDigits) };
}

/** An unknown parameter is named in the error, unless its name looks like a card number. */
function withoutDigits({ parameter = '', message, ...entry }: ApiError): ApiError {
  const hide = (text: string): string => text.replace(/\d{12,}/g, '******');
  return { ...entry, message: hide(message ?? ''), parameter: hide(parameter) };
}

/** Both dates are whole days in UTC, and inclusive. */
export const toRecordFilter = (merchantId: number, query: ListPaymentsQuery): RecordFilter => ({
  merchantId,
  orderNumber: query.orderNumber,
  createdFrom: query.dateFrom === undefined ? undefined : Date.parse(query.dateFrom),
  createdBefore: query.dateTo === undefined ? undefined : Date.parse(query.dateTo) + dayMs,
});

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const cardOrToken = (): ApiError =>
  apiError('invalid_param', 'Give either card or recurringToken.', 'recurringToken');

const cardExpired = (parameter: string): ApiError =>
  apiError('invalid_param', `${parameter} must not be in the past.`, parameter);
