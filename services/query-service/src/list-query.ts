/** The queries of lists, as callers write them. */
import { currencySchema, paymentStatusSchema } from '@tollgate/payment-api/values';
import { paymentPhases, payoutPhases, payoutStatusSchema } from '@tollgate/payment-domain';
import { perPageMax, type OperationListQuery, type PaymentListQuery } from '@tollgate/view-index';
import { type Caller } from '@tollgate/teams';
import { given } from '@tollgate/service-kit';
import { z } from 'zod';
import type { ExportQuery } from './payment-export.ts';

const dayMs = 86_400_000;

const wholeNumberSchema = z
  .string('must be given once')
  .regex(/^[1-9]\d{0,8}$/, 'must be a whole number from 1')
  .transform(Number);

const flagSchema = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true');

/** A day in UTC as its first millisecond. */
const daySchema = z.iso.date('must be a date written YYYY-MM-DD').transform((text) => Date.parse(text));

const onePage = {
  perPage: wholeNumberSchema
    .refine((count) => count <= perPageMax, `must be at most ${perPageMax}`)
    .default(20),
  cursor: z.string('must be given once').max(512, 'must be at most 512 characters').optional(),
};

const filters = {
  orderNumber: z
    .string('must be given once')
    .min(1, 'must not be empty')
    .max(255, 'must be at most 255 characters')
    .optional(),
  currency: currencySchema.optional(),
  dateFrom: daySchema.optional(),
  dateTo: daySchema.optional(),
  needsReview: flagSchema.optional(),
};

const numberedPage = {
  ...onePage,
  page: wholeNumberSchema.optional(),
  withTotal: flagSchema.optional(),
};

const isPageOrCursor = ({ page, cursor }: { page?: number | undefined; cursor?: string | undefined }) =>
  page === undefined || cursor === undefined;
const pageBesideCursor = { path: ['page'], message: 'must be left out where a cursor is given' };

const operationTypes = ['pays', 'payouts', 'all'] as const;
/** What the specification's list of payments shows. */
export type OperationType = (typeof operationTypes)[number];

const paymentFilters = {
  ...filters,
  status: paymentStatusSchema.optional(),
  // Those of payouts are among them.
  phase: z.enum(paymentPhases).optional(),
  operationType: z.enum(operationTypes, 'must be pays, payouts or all').default('pays'),
};

export const paymentListSchema = z
  .strictObject({ ...paymentFilters, ...numberedPage })
  .refine(isPageOrCursor, pageBesideCursor);

export const payoutListSchema = z
  .strictObject({
    ...filters,
    ...numberedPage,
    status: payoutStatusSchema.optional(),
    phase: z.enum(payoutPhases).optional(),
  })
  .refine(isPageOrCursor, pageBesideCursor);

/** All that fit, and so without pages. */
export const paymentExportSchema = z.strictObject(paymentFilters);

export const reviewListSchema = z.strictObject(onePage);

interface Dates {
  dateFrom?: number | undefined;
  dateTo?: number | undefined;
}

/** Both dates are inclusive. */
function toListQuery<Query extends Dates>(caller: Caller, query: Query) {
  const { dateFrom, dateTo, ...rest } = query;
  const { team, environment } = caller;
  const createdBefore = dateTo === undefined ? undefined : dateTo + dayMs;
  // Whose list it is comes last: nothing that was asked for takes its place.
  return { ...given({ ...rest, createdFrom: dateFrom, createdBefore }), team, environment };
}

export const parsePaymentListQuery = (caller: Caller, query: unknown) =>
  paymentListSchema
    .transform(({ operationType, ...rest }): { operationType: OperationType; query: PaymentListQuery } => ({
      operationType,
      query: { ...toListQuery(caller, rest), perPage: rest.perPage },
    }))
    .safeParse(query);

export const parsePaymentExportQuery = (caller: Caller, query: unknown) =>
  paymentExportSchema
    .transform(({ operationType, ...rest }): ExportQuery => ({
      operationType,
      query: toListQuery(caller, rest),
    }))
    .safeParse(query);

export const parsePayoutListQuery = (caller: Caller, query: unknown) =>
  payoutListSchema
    .transform((rest): OperationListQuery => ({ ...toListQuery(caller, rest), perPage: rest.perPage }))
    .safeParse(query);

/** Of what takes no parameters. */
export const noQuerySchema = z.strictObject({});

export const parseReviewQuery = (query: unknown) => reviewListSchema.safeParse(query);
