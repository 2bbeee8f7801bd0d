/**
 * The Payment Service's interface as zod schemas. Where the specification says "not shown", the decision is marked
 * with its number in `docs/specification.md`.
 *
 * Requests are strict (an unknown field is an `invalid_request_error`); answers are loose, because deployments add fields.
 */
import { z } from 'zod';
import { amountSchema, currencySchema, orMissing } from '@tollgate/core/money';
import { isVisibleText, mustBeVisible } from './visible-text.ts';

/** Neither a user name (`https://bank.example@evil.example`) nor what browsers read differently than we do. */
const hasPlainAuthority = (url: string): boolean =>
  /^https?:\/\/[^\s\\@/?#\p{Cc}]+([/?#][^\s\\\p{Cc}]*)?$/iu.test(url);

/** Outer spaces, tabs and line breaks are dropped, as by the URL standard. */
export const httpUrlSchema = z
  .url({ protocol: /^https?$/, ...orMissing('must be an http or https URL'), abort: true })
  .max(2048, { error: 'must be at most 2048 characters', abort: true })
  .refine(hasPlainAuthority, {
    error: 'must be without user name, spaces, backslashes and control characters',
    abort: true,
  })
  .refine(isVisibleText, mustBeVisible);

/** The hosted page, where customers enter their card data: never over plain HTTP. */
export const pageUrlSchema = httpUrlSchema.refine((url) => /^https:/i.test(url), 'must be an https URL');

const textSchema = (lengthMax: number) =>
  z
    .string(orMissing('must be a text'))
    .min(1, 'must not be empty')
    .max(lengthMax, `must be at most ${lengthMax} characters`)
    .refine(isVisibleText, mustBeVisible);

const tokenSchema = textSchema(128);

const { ipv4, ipv6 } = z.regexes;
// One text with a pattern rather than a union of two: generated clients make a class of a union.
const ipSchema = z
  .string()
  .regex(new RegExp(`${ipv4.source}|${ipv6.source}`), 'must be an IPv4 or IPv6 address');

/** Card data of a server-to-server payment. Held in memory only. */
export const cardSchema = z.strictObject({
  pan: z.string().regex(/^\d{12,19}$/, 'must be 12 to 19 digits'),
  expires: z.string().regex(/^(0[1-9]|1[0-2])\/\d{4}$/, 'must be written MM/YYYY'),
  holder: textSchema(255),
  cvv: z.string().regex(/^\d{3,4}$/, 'must be 3 or 4 digits'),
});

/** Body of `POST /api/v1/payments` (section 2; which fields are required: open point 1). */
export const createPaymentRequestSchema = z.strictObject({
  product: textSchema(255),
  amount: amountSchema,
  currency: currencySchema,
  callbackUrl: httpUrlSchema,
  orderNumber: textSchema(255).optional(),
  redirectSuccessUrl: httpUrlSchema.optional(),
  redirectFailUrl: httpUrlSchema.optional(),
  locale: z
    .string()
    .max(35)
    .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/, 'must be a BCP 47 language tag, for example de or de-AT')
    .optional(),
  needConfirmation: z.boolean().optional(),
  recurring: z.boolean().optional(),
  recurringToken: tokenSchema.optional(),
  card: cardSchema.optional(),
  customer: z
    .strictObject({
      email: z.email('must be an e-mail address').max(255).optional(),
      ip: ipSchema.optional(),
    })
    .optional(),
});
export type CreatePaymentRequest = z.infer<typeof createPaymentRequestSchema>;

/** Answer of `POST /api/v1/payments` (section 4; the fields beyond the token: open point 2). */
export const createPaymentAnswerSchema = z.looseObject({
  success: z.literal(true),
  token: tokenSchema,
  processingUrl: pageUrlSchema.optional(),
  payment: z
    .looseObject({
      amount: z.number().optional(),
      currency: z.string().optional(),
      status: z.string().optional(),
    })
    .optional(),
});
export type CreatePaymentAnswer = z.infer<typeof createPaymentAnswerSchema>;

/**
 * A payment as the service shows it (open point 3). `status` stays a plain string: a status that the specification
 * does not know must open a review, not fail to parse.
 */
const servicePaymentSchema = z.looseObject({
  token: tokenSchema,
  status: z.string(),
  amount: z.number().nullish(),
  currency: z.string().nullish(),
  orderNumber: z.string().nullish(),
  product: z.string().nullish(),
  callbackUrl: z.string().nullish(),
  redirectSuccessUrl: z.string().nullish(),
  redirectFailUrl: z.string().nullish(),
  locale: z.string().nullish(),
  needConfirmation: z.boolean().nullish(),
  heldAmount: z.number().nullish(),
  refundedAmount: z.number().nullish(),
  /** The hosted page, shown while the payment is not final (open point 4). */
  processingUrl: z.string().nullish(),
  recurringToken: z.string().nullish(),
  sanitizedMask: z.string().nullish(),
  declineReason: z.string().nullish(),
  createdAt: z.string().nullish(),
  updatedAt: z.string().nullish(),
});
export type ServicePayment = z.infer<typeof servicePaymentSchema>;

/** Answer of `GET /api/v1/payments/{token}`. */
export const retrievePaymentAnswerSchema = z.looseObject({
  success: z.literal(true),
  payment: servicePaymentSchema,
});

const dateSchema = z.iso.date('must be a date written YYYY-MM-DD');

/** Query of `GET /api/v1/payments` (open point 5). Numbers arrive as text. */
export const listPaymentsQuerySchema = z.strictObject({
  dateFrom: dateSchema.optional(),
  dateTo: dateSchema.optional(),
  page: z.coerce.number().int().min(1).max(1_000_000).default(1),
  perPage: z.coerce.number().int().min(1).max(500, 'must be at most 500').default(20),
  operationType: z.enum(['pays', 'payouts']).default('pays'),
  orderNumber: textSchema(255).optional(),
});
export type ListPaymentsQuery = z.infer<typeof listPaymentsQuerySchema>;

/** Answer of `GET /api/v1/payments`, newest first. */
export const listPaymentsAnswerSchema = z.looseObject({
  success: z.literal(true),
  payments: z.array(servicePaymentSchema),
  totalCount: z.number().optional(),
  page: z.number().optional(),
  perPage: z.number().optional(),
});
export type ListPaymentsAnswer = z.infer<typeof listPaymentsAnswerSchema>;

/** Body of `POST /api/v1/payments/confirm` and `/decline` (section 4; open point 20): always the whole amount. */
export const paymentNameSchema = z.strictObject({ token: tokenSchema });

/** Answer of both (open point 20). Some deployments say no more than `success`. */
export const holdEndAnswerSchema = z.looseObject({
  success: z.literal(true),
  token: tokenSchema.optional(),
  payment: servicePaymentSchema.optional(),
});

/** Body of `POST /api/v1/refunds` (section 4; the field `token`: open point 21). Without an amount, all that is left. */
export const refundRequestSchema = z.strictObject({ token: tokenSchema, amount: amountSchema.optional() });

/** Answer of `POST /api/v1/refunds`. The token is the refund's; `payment` is what some deployments add. */
export const refundAnswerSchema = z.looseObject({
  success: z.literal(true),
  token: tokenSchema,
  refund: z.looseObject({ token: tokenSchema, amount: z.number(), currency: z.string(), status: z.string() }),
  payment: z.looseObject({ token: z.string().optional() }).optional(),
});
export type RefundAnswer = z.infer<typeof refundAnswerSchema>;

/** Where the money of a payout goes: to exactly one of these. Card data is held in memory only. */
const payoutDestinationSchema = z
  .strictObject({
    recurringToken: tokenSchema.optional(),
    card: cardSchema.pick({ pan: true, expires: true }).optional(),
    bankAccount: z.strictObject({ bankName: textSchema(255), account: textSchema(64) }).optional(),
  })
  .refine(
    (destination) => Object.values(destination).filter((value) => value !== undefined).length === 1,
    'must have exactly one of recurringToken, card and bankAccount',
  )
  .meta({ minProperties: 1, maxProperties: 1 });

/** Body of `POST /api/v1/payouts` (section 4; open point 22). */
export const payoutRequestSchema = z.strictObject({
  amount: amountSchema,
  currency: currencySchema,
  orderNumber: textSchema(255),
  destination: payoutDestinationSchema,
  callbackUrl: httpUrlSchema.optional(),
});
export type PayoutRequest = z.infer<typeof payoutRequestSchema>;

/**
 * A payout as the service shows it; `operationType` distinguishes it from a payment in a retrieval or a list
 * (open point 22).
 */
const servicePayoutSchema = z.looseObject({
  token: tokenSchema,
  operationType: z.string().nullish(),
  status: z.string(),
  amount: z.number(),
  currency: z.string(),
  orderNumber: z.string().nullish(),
  callbackUrl: z.string().nullish(),
  sanitizedMask: z.string().nullish(),
  declineReason: z.string().nullish(),
  createdAt: z.string().nullish(),
  updatedAt: z.string().nullish(),
});
export type ServicePayout = z.infer<typeof servicePayoutSchema>;

/** Answer of `POST /api/v1/payouts`. */
export const payoutAnswerSchema = z.looseObject({ success: z.literal(true), payout: servicePayoutSchema });
export type PayoutAnswer = z.infer<typeof payoutAnswerSchema>;

/** Answers of `GET /api/v1/payments/{token}` of a payout, and of `GET /api/v1/payments?operationType=payouts`. */
export const retrievePayoutAnswerSchema = retrievePaymentAnswerSchema.extend({
  payment: servicePayoutSchema,
});
export const listPayoutsAnswerSchema = listPaymentsAnswerSchema.extend({
  payments: z.array(servicePayoutSchema),
});

/** Query of `GET /api/v1/balance` (open point 23). */
export const balanceQuerySchema = z.strictObject({ currency: currencySchema });

/** Answer of `GET /api/v1/balance`: amounts in minor units. */
export const balanceAnswerSchema = z.looseObject({
  success: z.literal(true),
  wallet: z.looseObject({ currency: z.string(), available: z.number(), hold: z.number() }),
});
export type ServiceBalance = z.infer<typeof balanceAnswerSchema>['wallet'];

/**
 * A dispute as the service shows it (open point 24). Some deployments leave out the token of the payment. A number beyond
 * the safe integers is no id: two disputes would share it.
 */
/** Codes and ids of others, which some write as numbers. */
const textOrNumber = z.union([z.string(), z.number().transform(String)]);

export const serviceDisputeSchema = z.looseObject({
  id: z.union([textSchema(128), z.int()]),
  token: textOrNumber.nullish(),
  amount: z.number(),
  currency: z.string(),
  status: z.string(),
  type: z.string().nullish(),
  reasonCode: textOrNumber.nullish(),
  comment: z.string().nullish(),
  createdAt: z.string().nullish(),
  updatedAt: z.string().nullish(),
});
export type ServiceDispute = z.infer<typeof serviceDisputeSchema>;

/** Answer of `GET /api/v1/disputes/list`, newest first. What a dispute has is not specified: each is read by itself. */
export const listDisputesAnswerSchema = z.looseObject({
  success: z.literal(true),
  disputes: z.array(z.unknown()),
});

/** Body of a status callback (section 6; the fields beyond `orderNumber` and `status`: open point 6). */
export interface CallbackBody {
  token?: string | undefined;
  type?: 'payment' | 'pay' | 'refund' | 'payout' | 'dispute' | undefined;
  status: string;
  orderNumber?: string | null | undefined;
  amount?: number | undefined;
  currency?: string | undefined;
  recurringToken?: string | undefined;
  sanitizedMask?: string | undefined;
  declineReason?: string | undefined;
}
