/** Reads the requests of the interface: either what was asked for, or every fault with the parameter's name. */
import {
  apiError,
  createPaymentRequestSchema,
  listPaymentsQuerySchema,
  type ApiError,
  type ErrorCode,
  type ListPaymentsQuery,
} from '@tollgate/payment-api';
import { toErrorEntries } from '@tollgate/service-kit';
import type { z } from 'zod';
import type { CheckoutRequest } from './payments.ts';
import type { PaymentFilter } from './storage/payments-table.ts';

export type Read<Value> = { value: Value; faults?: never } | { faults: ApiError[]; value?: never };

/** Parameters of server-to-server payments, which this service does not take yet. */
const unsupportedParameters = ['card', 'recurringToken'] as const;

const codeByParameter: ReadonlyMap<string, ErrorCode> = new Map([
  ['amount', 'incorrect_amount'],
  ['currency', 'incorrect_currency'],
]);

/** The body of a creation. */
export function readCreation(body: unknown): Read<CheckoutRequest> {
  const unsupported = unsupportedParameters.filter((name) => isObject(body) && body[name] !== undefined);
  const read = readRequest(createPaymentRequestSchema, body);
  if (unsupported.length === 0) return read;
  const isAboutSupported = ({ parameter = '' }: ApiError) =>
    !unsupported.some((name) => parameter === name || parameter.startsWith(`${name}.`));
  return { faults: [...unsupported.map(notSupportedYet), ...(read.faults ?? []).filter(isAboutSupported)] };
}

/** The query of a list. */
export function readListQuery(query: unknown): Read<ListPaymentsQuery> {
  const read = readRequest(listPaymentsQuerySchema, query);
  if (read.value === undefined) return read;
  const { dateFrom, dateTo } = read.value;
  if (dateFrom === undefined || dateTo === undefined || dateFrom <= dateTo) return read;
  return { faults: [apiError('invalid_param', 'dateFrom must not be after dateTo.', 'dateFrom')] };
}

/** Reads a value; each fault becomes one error of section 7. */
export function readRequest<Schema extends z.ZodType>(schema: Schema, input: unknown): Read<z.infer<Schema>> {
  const result = schema.safeParse(input);
  if (result.success) return { value: result.data };
  return { faults: toErrorEntries(result.error, (parameter) => codeByParameter.get(parameter)) };
}

const dayMs = 24 * 60 * 60_000;

/** Both dates are whole days in UTC, and belong to the list. */
export const toPaymentFilter = (merchantId: number, query: ListPaymentsQuery): PaymentFilter => ({
  merchantId,
  orderNumber: query.orderNumber,
  createdFrom: query.dateFrom === undefined ? undefined : Date.parse(query.dateFrom),
  createdBefore: query.dateTo === undefined ? undefined : Date.parse(query.dateTo) + dayMs,
});

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const notSupportedYet = (parameter: string): ApiError =>
  apiError(
    'invalid_param',
    `${parameter} is not supported yet: payments are taken on the hosted page.`,
    parameter,
  );
