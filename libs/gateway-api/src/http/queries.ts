/** The parameters of reads, as callers write them: parsed with these schemas, and documented by them. */
import { currencySchema, paymentStatusSchema } from '@tollgate/core/money';
import {
  disputeStates,
  environmentSchema,
  paymentPhases,
  payoutPhases,
  payoutStatusSchema,
} from '@tollgate/core';
import { type SecurityEventKind, securityEventKinds, teamChanges } from '@tollgate/teams';
import { z } from 'zod';
import { entryKinds, ledgerAccounts } from '@tollgate/books';
import { refundPhases, refundStatuses } from '../refund.ts';
import { metadataFilterSchema } from './metadata-filter.ts';

const once = z.string('must be given once');
const text = (max: number) => once.max(max, `must be at most ${max} characters`).optional();
const exactText = once.min(1, 'must not be empty').max(128, 'must be at most 128 characters').optional();

/** The most entries that a page may have. */
export const perPageMax = 500;
const perPageRule = `must be a whole number from 1 to ${perPageMax}`;

const perPage = (byDefault: number) =>
  once
    .regex(/^[1-9]\d{0,8}$/, perPageRule)
    .transform(Number)
    .refine((count) => count <= perPageMax, perPageRule)
    .default(byDefault);
const onePage = { perPage: perPage(20), cursor: text(512) };

const flagSchema = z
  .enum(['true', 'false'], 'must be true or false')
  .transform((written) => written === 'true')
  .optional();

/** Only in its own list, or on request. */
const onlySchema = z
  .enum(['true'], 'must be true, or left out')
  .transform(() => true as const)
  .optional();

const dayTextSchema = z.iso.date('must be a date written YYYY-MM-DD').optional();
/** A day in UTC as its first millisecond. */
const daySchema = dayTextSchema
  .unwrap()
  .transform((written) => Date.parse(written))
  .optional();

const filters = {
  metadata: metadataFilterSchema,
  orderNumber: text(255).unwrap().min(1, 'must not be empty').optional(),
  currency: currencySchema.optional(),
  dateFrom: daySchema,
  dateTo: daySchema,
  needsReview: flagSchema,
};

const countedPage = { ...onePage, withTotal: flagSchema };

/** Of payments and payouts. */
const anyPhases = [...new Set([...paymentPhases, ...payoutPhases])] as const;

const operationTypes = ['pays', 'payouts', 'all'] as const;
/** The content of the list of payments (specification). */
export type OperationType = (typeof operationTypes)[number];

/** An export has every match, so it has no page parameters. */
export const paymentExportSchema = z.strictObject({
  ...filters,
  status: paymentStatusSchema.optional(),
  phase: z.enum(anyPhases).optional(),
  operationType: z.enum(operationTypes, 'must be pays, payouts or all').default('pays'),
});
export const paymentListSchema = paymentExportSchema.extend(countedPage);

export const payoutListSchema = z.strictObject({
  ...filters,
  ...countedPage,
  status: payoutStatusSchema.optional(),
  phase: z.enum(payoutPhases).optional(),
});

/** Of the parts of a payment. */
const partFilters = {
  currency: filters.currency,
  dateFrom: filters.dateFrom,
  dateTo: filters.dateTo,
  paymentToken: text(128),
};
const refundStates = { status: z.enum(refundStatuses).optional(), phase: z.enum(refundPhases).optional() };
const disputeStatus = { status: z.enum(disputeStates).optional() };

export const refundExportSchema = z.strictObject({ ...partFilters, ...refundStates });
export const refundListSchema = refundExportSchema.extend(countedPage);
export const disputeExportSchema = z.strictObject({ ...partFilters, ...disputeStatus });
export const disputeListSchema = disputeExportSchema.extend(countedPage);

const orderSchema = z.enum(['newest', 'oldest'], 'must be newest or oldest').default('newest');

export const journalExportSchema = z.strictObject({
  currency: filters.currency,
  dateFrom: filters.dateFrom,
  dateTo: filters.dateTo,
  order: orderSchema,
  account: text(64),
  ledgerAccount: z.enum(ledgerAccounts).optional(),
  kind: z.enum(entryKinds).optional(),
  token: text(128),
});
export const journalListSchema = journalExportSchema.extend(onePage);

export const statementSchema = z.strictObject({
  month: z
    .string('must be one month written YYYY-MM')
    .regex(/^[0-9]{4}-(0[1-9]|1[0-2])$/, 'must be a month written YYYY-MM'),
  currency: filters.currency,
});

/** Of the routes over all teams. */
const owner = { team: text(63), environment: environmentSchema.optional() };
const ownerOfMoney = { ...owner, wallet: text(80) };

export const operatorJournalExportSchema = journalExportSchema.extend(ownerOfMoney);
export const operatorJournalListSchema = journalListSchema.extend(ownerOfMoney);
export const operatorStatementSchema = statementSchema.extend(ownerOfMoney);
export const operatorBalanceSchema = z.strictObject(ownerOfMoney);

/** Milliseconds since the Unix epoch. */
export const instantSchema = z.iso
  .datetime({
    offset: true,
    error: 'must be an instant written as in ISO 8601, such as 2030-01-01T12:00:00Z',
  })
  .transform((written) => Date.parse(written));
const createdWithin = { createdFrom: instantSchema.optional(), createdBefore: instantSchema.optional() };

/** In whole units, whatever the currency: the same filter fits payments of all currencies. */
const amountSchema = once
  .regex(/^\d{1,16}(\.\d{1,4})?$/, 'must be an amount in whole units of the currency, such as 12.50')
  .optional();

/** Of payments and payouts of all teams. */
const operationFilters = {
  ...owner,
  order: orderSchema,
  metadata: filters.metadata,
  orderNumber: filters.orderNumber,
  currency: filters.currency,
  needsReview: filters.needsReview,
};

export const operatorPaymentExportSchema = z.strictObject({
  ...operationFilters,
  status: paymentStatusSchema.optional(),
  phase: z.enum(paymentPhases).optional(),
  ...createdWithin,
  amountFrom: amountSchema,
  amountTo: amountSchema,
  account: text(64),
  sanitizedMask: text(32),
  declineReason: text(1_000),
  unresolved: onlySchema,
  refundOpen: onlySchema,
});
export const operatorPaymentListSchema = z.strictObject({ ...onePage, ...operatorPaymentExportSchema.shape });

export const operatorPayoutListSchema = z.strictObject({
  ...onePage,
  ...operationFilters,
  ...createdWithin,
  unresolved: onlySchema,
  phase: z.enum(payoutPhases).optional(),
});

const partOfAll = {
  ...owner,
  order: orderSchema,
  currency: filters.currency,
  ...createdWithin,
  paymentToken: text(128),
};
export const operatorRefundExportSchema = z.strictObject({ ...partOfAll, ...refundStates });
export const operatorRefundListSchema = operatorRefundExportSchema.extend(onePage);
export const operatorDisputeExportSchema = z.strictObject({ ...partOfAll, ...disputeStatus });
export const operatorDisputeListSchema = operatorDisputeExportSchema.extend(onePage);

export const outcomeCountSchema = z.strictObject({
  ...owner,
  ...createdWithin,
  by: z
    .enum(['team', 'account', 'currency', 'reason'], 'must be team, account, currency or reason')
    .optional(),
  step: z.enum(['hour', 'day'], 'must be hour or day').default('day'),
});

export const operatorReviewListSchema = z.strictObject({
  ...onePage,
  perPage: perPage(perPageMax),
  ...owner,
  token: text(128),
});

export const searchSchema = z.strictObject({
  q: once.trim().min(1, 'must not be empty').max(255, 'must be at most 255 characters'),
});

export const reviewListSchema = z.strictObject(onePage);
export const reconciliationListSchema = z.strictObject(onePage);

export const requestListSchema = z.strictObject({
  ...onePage,
  status: once.regex(/^[1-5](\d\d|xx)$/, 'must be a status like 409, or a class of them like 4xx').optional(),
  errorCode: exactText,
  keyId: exactText,
  token: exactText,
  dateFrom: filters.dateFrom,
  dateTo: filters.dateTo,
});

/** `retrying` ones are also `open`. */
export const deliveryStatuses = ['failed', 'retrying', 'open', 'delivered'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];
const deliveryStatus = z.enum(deliveryStatuses, `must be one of ${deliveryStatuses.join(', ')}`).optional();

export const webhookListSchema = z.strictObject({
  ...onePage,
  token: exactText,
  endpoint: exactText,
  status: deliveryStatus,
  ...createdWithin,
});

export const operatorWebhookListSchema = z.strictObject({
  ...onePage,
  ...owner,
  id: once.regex(/^whk_[0-9a-f]{32}$/, 'must be the id of a webhook').optional(),
  endpoint: exactText,
  status: deliveryStatus,
  ...createdWithin,
});

export const securityLogSchema = z.strictObject({
  ...onePage,
  kind: z.enum(Object.keys(securityEventKinds) as [SecurityEventKind]).optional(),
  team: owner.team,
  person: exactText,
  change: z.enum(teamChanges).optional(),
});

export const keyListSchema = z.strictObject({
  ...onePage,
  team: owner.team,
  state: z.enum(['active', 'ended'], 'must be active or ended').optional(),
});

export const credentialListSchema = z.strictObject({ person: exactText });

/** @unit seconds */
const feedWaitMax = 25;

export const eventFeedSchema = z.strictObject({
  cursor: once
    .regex(/^[\d:/-]{0,64}$/, 'must be the cursor of a record or of a page of this feed')
    .default(''),
  perPage: perPage(100),
  wait: once
    .regex(/^\d{1,2}$/, `must be a whole number of seconds from 0 to ${feedWaitMax}`)
    .transform(Number)
    .refine((seconds) => seconds <= feedWaitMax, `must be at most ${feedWaitMax} seconds`)
    .default(0),
});

export const totalsQuerySchema = z.strictObject({
  dateFrom: dayTextSchema,
  dateTo: dayTextSchema,
  currency: currencySchema.optional(),
});

/** For routes without parameters. */
export const noQuerySchema = z.strictObject({});
