/** The bodies of requests that are the gateway's own; the others are the specification's. */
import {
  environmentSchema,
  metadataBytes,
  metadataBytesMax,
  metadataLimits,
  resolutionSchema,
} from '@tollgate/core';
import { amountSchema, currencySchema, orMissing } from '@tollgate/core/money';
import {
  cardSchema,
  createPaymentRequestSchema,
  httpUrlSchema,
  isVisibleText,
  mustBeVisible,
  visibleTextPattern,
  paymentNameSchema,
  payoutRequestSchema as payoutOfService,
  refundRequestSchema as refundOfService,
} from '@tollgate/payment-api';
import { savedViewSchema as viewSchema } from '@tollgate/teams';
import { z } from 'zod';
import { anyReviewCodes } from '../review.ts';
import { everyWebhookEvent, webhookEventNames } from '../webhook-endpoint.ts';
import { holdsNoCardNumber, mustHoldNoCardNumber } from './kept-text.ts';
import { instantSchema } from './queries.ts';
import { scopeNameSchema, teamBodySchemas } from './team-requests.ts';

const { entries, name, value } = metadataLimits;

/** No colon, so that a list can be filtered by it: `metadata=order:4711`. */
const metadataNamePattern = `^[A-Za-z0-9_.-]{1,${name}}$`;
const nameExpression = new RegExp(metadataNamePattern);
const isMetadataName = (text: string): boolean => nameExpression.test(text);

const metadataRequestSchema = z
  .record(z.string(), z.string('must be a text').max(value, `must be at most ${value} characters`), {
    error: 'must be an object of texts',
  })
  .refine((metadata) => Object.keys(metadata).length <= entries, `must have at most ${entries} entries`)
  .refine(
    (metadata) => Object.keys(metadata).every(isMetadataName),
    `must have names of 1 to ${name} letters, digits, hyphens, dots and underscores`,
  )
  .refine((metadata) => Object.values(metadata).every(isVisibleText), mustBeVisible)
  .refine(
    (metadata) => metadataBytes(metadata) <= metadataBytesMax,
    `must be at most ${metadataBytesMax} bytes as JSON`,
  )
  .meta({
    maxProperties: entries,
    propertyNames: { pattern: metadataNamePattern },
    additionalProperties: { type: 'string', maxLength: value, pattern: visibleTextPattern },
  })
  .optional();

/** A text that people read later. */
const readable = (schema: z.ZodString): z.ZodString =>
  schema.refine(isVisibleText, mustBeVisible).refine(holdsNoCardNumber, mustHoldNoCardNumber);

const shortText = (max: number): z.ZodString =>
  z.string('must be a text').max(max, { error: `must be at most ${max} characters`, abort: true });

const reasonSchema = readable(
  z
    .string(orMissing('must be a string'))
    .trim()
    .min(1, 'must not be empty')
    .max(1000, { error: 'must be at most 1000 characters', abort: true }),
);

const walletRule = 'must be a wallet: team-<team>, wallet-<name> of a shared one, or provider';
const walletSchema = () =>
  z.string(orMissing(walletRule)).regex(/^(provider|(team|wallet)-[a-z][a-z0-9-]{0,62})$/, walletRule);

const savedViewSchema = viewSchema.extend({
  name: readable(viewSchema.shape.name),
  query: viewSchema.shape.query.refine(holdsNoCardNumber, mustHoldNoCardNumber),
});

const credentialIdSchema = z
  .string('must be a text')
  .regex(/^[0-9a-f]{24}$/, 'must be 24 hexadecimal digits in lower case');
const personSchema = z.string('must be a text').min(1, 'must not be empty').max(128);

const webhookEventNameSchema = z.enum(
  [everyWebhookEvent, ...webhookEventNames],
  `must be * for all events, or one of ${webhookEventNames.join(', ')}`,
);
const endpointShape = {
  url: httpUrlSchema.refine(holdsNoCardNumber, mustHoldNoCardNumber),
  events: z
    .array(webhookEventNameSchema, 'must be a list of names of events')
    .min(1, 'must not be empty')
    .max(webhookEventNames.length + 1, 'must have each event once')
    .refine((names) => new Set(names).size === names.length, 'must have each event once')
    .meta({ uniqueItems: true }),
  description: readable(shortText(255)),
};

/** Maximum time in which webhooks carry the signature of the former secret as well. */
const overlapHoursMax = 168;

const replayShape = {
  id: shortText(64).optional(),
  endpoint: shortText(64).optional(),
  status: z.enum(['failed', 'delivered'], 'must be failed or delivered').default('failed'),
  createdFrom: instantSchema.optional(),
  createdBefore: instantSchema.optional(),
  cursor: shortText(64).optional(),
};

/** The request bodies, by their names in the OpenAPI document. The routes parse with these schemas. */
export const bodySchemas = {
  // The gateway sends the webhooks, so callbackUrl is optional (the specification does not show the Payment Service's own rule).
  PaymentRequest: createPaymentRequestSchema
    .partial({ callbackUrl: true })
    .extend({ metadata: metadataRequestSchema }),
  PaymentName: paymentNameSchema,
  RefundRequest: refundOfService.extend({ metadata: metadataRequestSchema }),
  PayoutRequest: payoutOfService.extend({ metadata: metadataRequestSchema }),
  Resolution: z.strictObject({
    code: z.enum(anyReviewCodes),
    /** Which review of this code: a resolution applies only to the review that the person has seen. */
    number: z.int('must be a whole number: take it from the list of reviews').min(1, 'must be at least 1'),
    resolution: resolutionSchema,
    /** Why, in the person's own words. It becomes part of the history. */
    reason: reasonSchema,
  }),
  ApprovalRefusal: z.strictObject({
    /** Why, in the person's own words. It becomes part of the history. */
    reason: reasonSchema,
  }),
  DestinationCheck: z.strictObject({
    account: z.string('must be given').min(1, 'must not be empty').max(64, 'must be at most 64 characters'),
  }),
  AccountChange: z.strictObject({
    /** Why, in the person's own words: others see it in the list of accounts. */
    reason: reasonSchema,
    /** Skips the reconciliation that is due after a restore. */
    override: z.boolean('must be true or false').optional(),
  }),
  TransferRequest: z
    .strictObject({
      environment: environmentSchema,
      account: z.string(orMissing('must be a merchant account')).min(1, 'must be a merchant account').max(63),
      currency: currencySchema,
      amount: amountSchema,
      from: walletSchema(),
      to: walletSchema(),
      reason: reasonSchema,
    })
    .refine(({ from, to }) => from !== to, { path: ['to'], error: 'must be another wallet than from' }),
  ReconciliationRequest: z.strictObject({
    environment: environmentSchema,
    account: readable(shortText(64).min(1, 'must not be empty')),
    day: z.iso.date('must be a day written YYYY-MM-DD'),
    isDryRun: z.boolean('must be true or false').default(false),
  }),
  WebhookEndpointRequest: z.strictObject({
    url: endpointShape.url,
    events: endpointShape.events.optional(),
    description: endpointShape.description.optional(),
  }),
  WebhookEndpointChange: z
    .strictObject({
      ...endpointShape,
      status: z.enum(['enabled', 'disabled'], 'must be enabled or disabled'),
    })
    .partial(),
  SecretRotation: z
    .strictObject({
      overlapHours: z
        .int('must be a whole number of hours')
        .min(0, 'must be at least 0')
        .max(overlapHoursMax, `must be at most ${overlapHoursMax}`)
        .optional(),
    })
    .optional(),
  WebhookReplay: z.strictObject({ ...replayShape, token: shortText(100).optional() }),
  OperatorWebhookReplay: z.strictObject({
    ...replayShape,
    team: shortText(63).optional(),
    environment: environmentSchema.optional(),
  }),
  OwnCredentialRevocation: z.strictObject({ credentialId: credentialIdSchema.optional() }),
  CredentialRevocation: z
    .strictObject({ credentialId: credentialIdSchema.optional(), person: personSchema.optional() })
    .refine(({ credentialId, person }) => (credentialId === undefined) !== (person === undefined), {
      path: ['credentialId'],
      message: 'must be given if person is absent, and left out otherwise',
    }),
  SavedView: savedViewSchema,
  /** Accepts any name, because views saved before names were validated must be removable, too. */
  RemovedView: viewSchema.pick({ name: true }),
  ...teamBodySchemas,
} as const;
export type BodyName = keyof typeof bodySchemas;
export type BodyOf<Name extends BodyName> = z.infer<(typeof bodySchemas)[Name]>;

/** Parts of bodies, by their names. Java cannot write a list of values without a name, nor Go an object. */
export const bodyValues = {
  Card: cardSchema,
  Scope: scopeNameSchema,
  WebhookEventName: webhookEventNameSchema,
} as const;
