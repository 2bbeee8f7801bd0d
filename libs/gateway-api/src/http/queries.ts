/** The parameters of reads, as callers write them: parsed with these schemas, and documented by them. */
import { currencySchema, paymentStatusSchema } from '@tollgate/core/money';
import {
  disputeStates,
  entryKinds,
  environmentSchema,
  ledgerAccounts,
  metadataLimits,
  paymentPhases,
  payoutPhases,
  payoutStatusSchema,
} from '@tollgate/core';
import { type SecurityEventKind, securityEventKinds, teamChanges } from '@tollgate/teams';
import { z } from 'zod';
import { refundPhases, refundStatuses } from '../refund.ts';

/** The most entries that a page may have. */
export const perPageMax = 500;

const wholeNumberSchema = z
  .string('must be given once')
  .regex(/^[1-9]\d{0,8}$/, 'must be a whole number from 1 to 999999999')
  .transform(Number);

const flagSchema = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true');

/** Only in its own list, or on request. */
const onlySchema = z.enum(['true'], 'must be true, or left out').transform(() => true as const);

const dayTextSchema = z.iso.date('must be a date written YYYY-MM-DD');
/** A day in UTC as its first millisecond. */
const daySchema = dayTextSchema.transform((text) => Date.parse(text));

const onePage = {
  perPage: wholeNumberSchema
    .refine((count) => count <= perPageMax, `must be at most ${perPageMax}`)
    .default(20),
  cursor: z.string('must be given once').max(512, 'must be at most 512 characters').optional(),
};

/** Each more is one more row looked up for each that the first one leads to. */
export const metadataFiltersMax = 5;

/** A name has no colon. */
export const metadataFilterPattern = `^[A-Za-z0-9_.-]{1,${metadataLimits.name}}:[\\s\\S]{0,${metadataLimits.value}}$`;

const metadataFilterSchema = z
  .string()
  .regex(new RegExp(metadataFilterPattern), 'must be a name and a value such as order:4711')
  .transform((text): [string, string] => {
    const at = text.indexOf(':');
    return [text.slice(0, at), text.slice(at + 1)];
  });

const filters = {
  metadata: z
    .preprocess(
      (given) => (typeof given === 'string' ? [given] : given),
      z
        .array(metadataFilterSchema)
        .max(metadataFiltersMax, `must be given at most ${metadataFiltersMax} times`)
        .refine(
          (all) => new Set(all.map(([name]) => name)).size === all.length,
          'must be given once for each name',
        )
        .transform((all): Record<string, string> => Object.fromEntries(all)),
    )
    .optional(),
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

const countedPage = {
  ...onePage,
  withTotal: flagSchema.optional(),
};

/** Of payments and payouts. */
const anyPhases = [...new Set([...paymentPhases, ...payoutPhases])] as const;

const operationTypes = ['pays', 'payouts', 'all'] as const;
/** The content of the list of payments (specification). */
export type OperationType = (typeof operationTypes)[number];

const paymentFilters = {
  ...filters,
  status: paymentStatusSchema.optional(),
  phase: z.enum(anyPhases).optional(),
  operationType: z.enum(operationTypes, 'must be pays, payouts or all').default('pays'),
};

export const paymentListSchema = z.strictObject({ ...paymentFilters, ...countedPage });

export const payoutListSchema = z.strictObject({
  ...filters,
  ...countedPage,
  status: payoutStatusSchema.optional(),
  phase: z.enum(payoutPhases).optional(),
});

/** An export has every match, so it has no page parameters. */
export const paymentExportSchema = z.strictObject(paymentFilters);

const refundFilters = {
  currency: filters.currency,
  dateFrom: filters.dateFrom,
  dateTo: filters.dateTo,
  paymentToken: z.string('must be given once').max(128, 'must be at most 128 characters').optional(),
  status: z.enum(refundStatuses).optional(),
  phase: z.enum(refundPhases).optional(),
};

export const refundListSchema = z.strictObject({ ...refundFilters, ...countedPage });

export const refundExportSchema = z.strictObject(refundFilters);

const disputeFilters = {
  currency: filters.currency,
  dateFrom: filters.dateFrom,
  dateTo: filters.dateTo,
  paymentToken: refundFilters.paymentToken,
  status: z.enum(disputeStates).optional(),
};

export const disputeListSchema = z.strictObject({ ...disputeFilters, ...countedPage });

export const disputeExportSchema = z.strictObject(disputeFilters);

const orderSchema = z.enum(['newest', 'oldest'], 'must be newest or oldest').default('newest');

const journalFilters = {
  currency: filters.currency,
  dateFrom: filters.dateFrom,
  dateTo: filters.dateTo,
  order: orderSchema,
  account: z.string('must be given once').max(64, 'must be at most 64 characters').optional(),
  ledgerAccount: z.enum(ledgerAccounts).optional(),
  kind: z.enum(entryKinds).optional(),
  token: refundFilters.paymentToken,
};

export const journalListSchema = z.strictObject({ ...journalFilters, ...onePage });

export const journalExportSchema = z.strictObject(journalFilters);

const ofOperators = {
  team: z.string('must be given once').max(63, 'must be at most 63 characters').optional(),
  environment: environmentSchema.optional(),
  wallet: z.string('must be given once').max(80, 'must be at most 80 characters').optional(),
};

export const operatorJournalExportSchema = journalExportSchema.extend(ofOperators);

export const operatorJournalListSchema = journalListSchema.extend(ofOperators);

export const statementSchema = z.strictObject({
  month: z
    .string('must be one month written YYYY-MM')
    .regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'must be a month written YYYY-MM'),
  currency: filters.currency,
});

export const operatorStatementSchema = statementSchema.extend(ofOperators);

export const operatorBalanceSchema = z.strictObject(ofOperators);

/** Milliseconds since the Unix epoch. */
export const instantSchema = z.iso
  .datetime({
    offset: true,
    error: 'must be an instant written as in ISO 8601, such as 2030-01-01T12:00:00Z',
  })
  .transform((text) => Date.parse(text));

/** In whole units, whatever the currency: the same filter fits payments of all currencies. */
const amountSchema = z
  .string('must be given once')
  .regex(/^\d{1,16}(\.\d{1,4})?$/, 'must be an amount in whole units of the currency, such as 12.50');

/** Of the lists over all teams. */
export const operatorPaymentListSchema = z.strictObject({
  ...onePage,
  team: ofOperators.team,
  environment: ofOperators.environment,
  order: orderSchema,
  metadata: filters.metadata,
  orderNumber: filters.orderNumber,
  currency: filters.currency,
  needsReview: filters.needsReview,
  status: paymentStatusSchema.optional(),
  phase: z.enum(paymentPhases).optional(),
  createdFrom: instantSchema.optional(),
  createdBefore: instantSchema.optional(),
  amountFrom: amountSchema.optional(),
  amountTo: amountSchema.optional(),
  account: z.string('must be given once').max(64, 'must be at most 64 characters').optional(),
  sanitizedMask: z.string('must be given once').max(32, 'must be at most 32 characters').optional(),
  declineReason: z.string('must be given once').max(1_000, 'must be at most 1000 characters').optional(),
  unresolved: onlySchema.optional(),
  refundOpen: onlySchema.optional(),
});

export const operatorPaymentExportSchema = operatorPaymentListSchema.omit({ perPage: true, cursor: true });

export const operatorRefundExportSchema = operatorPaymentListSchema
  .pick({ team: true, environment: true, order: true, currency: true })
  .extend({
    createdFrom: instantSchema.optional(),
    createdBefore: instantSchema.optional(),
    paymentToken: refundFilters.paymentToken,
    status: refundFilters.status,
    phase: refundFilters.phase,
  });

export const operatorRefundListSchema = operatorRefundExportSchema.extend(onePage);

export const operatorDisputeExportSchema = operatorRefundExportSchema
  .omit({ phase: true })
  .extend({ status: disputeFilters.status });

export const operatorDisputeListSchema = operatorDisputeExportSchema.extend(onePage);

export const outcomeCountSchema = operatorPaymentListSchema
  .pick({ team: true, environment: true, createdFrom: true, createdBefore: true })
  .extend({
    by: z
      .enum(['team', 'account', 'currency', 'reason'], 'must be team, account, currency or reason')
      .optional(),
    step: z.enum(['hour', 'day'], 'must be hour or day').default('day'),
  });

export const operatorPayoutListSchema = operatorPaymentListSchema
  .omit({ status: true, phase: true, amountFrom: true, amountTo: true, account: true, sanitizedMask: true })
  .omit({ declineReason: true, refundOpen: true })
  .extend({ phase: z.enum(payoutPhases).optional() });

export const operatorReviewListSchema = z.strictObject({
  ...onePage,
  perPage: onePage.perPage.unwrap().default(perPageMax),
  team: operatorPaymentListSchema.shape.team,
  environment: environmentSchema.optional(),
  token: z.string('must be given once').max(128, 'must be at most 128 characters').optional(),
});

export const searchSchema = z.strictObject({
  q: z
    .string('must be given once')
    .trim()
    .min(1, 'must not be empty')
    .max(255, 'must be at most 255 characters'),
});

export const reviewListSchema = z.strictObject(onePage);

export const reconciliationListSchema = z.strictObject(onePage);

const exactText = z
  .string('must be given once')
  .min(1, 'must not be empty')
  .max(128, 'must be at most 128 characters')
  .optional();

export const requestListSchema = z.strictObject({
  ...onePage,
  status: z
    .string('must be given once')
    .regex(/^[1-5](\d\d|xx)$/, 'must be a status like 409, or a class of them like 4xx')
    .optional(),
  errorCode: exactText,
  keyId: exactText,
  token: exactText,
  dateFrom: daySchema.optional(),
  dateTo: daySchema.optional(),
});

/** `retrying` ones are also `open`. */
export const deliveryStatuses = ['failed', 'retrying', 'open', 'delivered'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

const createdWithin = { createdFrom: instantSchema.optional(), createdBefore: instantSchema.optional() };

export const webhookListSchema = z.strictObject({
  ...onePage,
  token: exactText,
  endpoint: exactText,
  status: z.enum(deliveryStatuses, `must be one of ${deliveryStatuses.join(', ')}`).optional(),
  ...createdWithin,
});

export const operatorWebhookListSchema = z.strictObject({
  ...onePage,
  team: operatorPaymentListSchema.shape.team,
  environment: environmentSchema.optional(),
  id: z
    .string('must be given once')
    .regex(/^whk_[0-9a-f]{32}$/, 'must be the id of a webhook')
    .optional(),
  endpoint: exactText,
  status: webhookListSchema.shape.status,
  ...createdWithin,
});

export const securityLogSchema = z.strictObject({
  ...onePage,
  kind: z.enum(Object.keys(securityEventKinds) as [SecurityEventKind]).optional(),
  team: operatorPaymentListSchema.shape.team,
  person: z.string('must be given once').min(1, 'must not be empty').max(128).optional(),
  change: z.enum(teamChanges).optional(),
});

export const keyListSchema = z.strictObject({
  ...onePage,
  team: operatorPaymentListSchema.shape.team,
  state: z.enum(['active', 'ended'], 'must be active or ended').optional(),
});

export const credentialListSchema = z.strictObject({
  person: z.string('must be given once').min(1, 'must not be empty').max(128).optional(),
});

/** Seconds. */
const feedWaitMax = 25;

export const eventFeedSchema = z.strictObject({
  cursor: z
    .string('must be given once')
    .regex(/^[\d:/-]{0,64}$/, 'must be the cursor of a record or of a page of this feed')
    .default(''),
  perPage: wholeNumberSchema
    .refine((count) => count <= perPageMax, `must be at most ${perPageMax}`)
    .default(100),
  wait: z
    .string('must be given once')
    .regex(/^\d{1,2}$/, `must be a whole number of seconds from 0 to ${feedWaitMax}`)
    .transform(Number)
    .refine((seconds) => seconds <= feedWaitMax, `must be at most ${feedWaitMax} seconds`)
    .default(0),
});

export const totalsQuerySchema = z.strictObject({
  dateFrom: dayTextSchema.optional(),
  dateTo: dayTextSchema.optional(),
  currency: currencySchema.optional(),
});

/** For routes without parameters. */
export const noQuerySchema = z.strictObject({});
