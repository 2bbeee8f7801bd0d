/** Values that several public objects and events share. */
import { amountSchema, apiErrorSchema, currencySchema, type ApiError } from '@tollgate/core/money';
import { endReasons, environmentSchema, type Metadata, type Review } from '@tollgate/core';
import { z } from 'zod';
import { oneOf, shownBy } from './public-object.ts';

/** Milliseconds since the Unix epoch as ISO 8601 in UTC. */
export const toIso = (at: number): string => new Date(at).toISOString();

export const instant = shownBy(
  z.iso.datetime().meta({ description: 'ISO 8601 in UTC.', examples: ['2030-01-01T12:00:00.000Z'] }),
  toIso,
);
const minorUnits = { description: 'Minor units: 1250 is 12.50 EUR.', examples: [1250] };
export const amount = amountSchema.meta(minorUnits);
/** Like {@link amount}, but may be 0. */
export const sum = z.int().min(0).meta(minorUnits);
/** The service may show any number; clients read amounts as integers of 64 bits. */
export const toWholeUnits = (shown: number): number =>
  Math.round(Math.min(Math.max(shown, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER));
export const shownAmount = shownBy(
  z.int().describe('As the Payment Service shows it, rounded to whole minor units.'),
  toWholeUnits,
);
// A pattern cannot enumerate currencies.
export const currency = currencySchema.meta({
  description: 'ISO 4217 alphabetic code in capitals.',
  pattern: '^[A-Z]{3}$',
});
export const environment = oneOf(environmentSchema.options, 'The environment of the requesting API key.');
export const orderNumber = z.string().describe("The team's own number.");
export const metadata = shownBy(
  z.record(z.string(), z.string()).meta({
    description: 'Metadata of the team, unchanged.',
    examples: [{ order: '4711' }],
  }),
  (kept: Metadata) => kept,
);
export const sanitizedMask = z
  .string()
  .meta({ description: 'First six and last four digits of the card.', examples: ['439296******1251'] });
export const declineReason = z.string().describe('Reason of the decline.');
export const revision = z.int().min(0).describe('Revision: the number of its last event, from 0.');
export const age = {
  createdAt: instant,
  updatedAt: instant.describe('Time of its last event. ISO 8601 in UTC.'),
};

export const reason = z.string();
export const sendBy = instant.describe('The call is sent before this instant, or never.');
export const endReason = oneOf(endReasons, 'Reasons of the refusal.');
export const outcomeSource = oneOf(
  ['answer', 'inquiry'],
  "How the outcome is known: from the call's answer, or from a status inquiry.",
);

export const publicError = apiErrorSchema;
export type PublicError = z.infer<typeof publicError>;

const isFaultOfAccount = (kind: string): boolean =>
  kind === 'authentication_error' || kind === 'settings_error';

/** Only people responsible for the team's money need the account, not each of its programs. */
export const merchantAccount = z
  .string()
  .exactOptional()
  .describe('Name of its merchant account; shown to keys with the scope `admin` only.');

/** The provider's errors. If it refused our account rather than the payment, its text is not shown. */
const toPublicErrors = (errors: readonly ApiError[]): PublicError[] =>
  errors.map(({ code, kind, message, parameter }) => ({
    code,
    kind,
    ...(message === undefined || isFaultOfAccount(kind) ? {} : { message }),
    ...(parameter === undefined ? {} : { parameter }),
  }));

export const errors = shownBy(
  z.array(publicError).describe('The errors of the Payment Service.'),
  toPublicErrors,
);

/** Texts only: generated clients have no type for a value that is a number in one entry and a text in another. */
export type PublicEvidence = Record<string, string>;

const plainEvidence: ReadonlySet<string> = new Set([
  'amount',
  'attemptNumber',
  'currency',
  'disputeToken',
  'inquiryNeed',
  'kind',
  'observedAmount',
  'observedAuthorizedAmount',
  'observedCurrency',
  'observedRefundedAmount',
  'observedStatus',
  'operation',
  'providerOrderNumber',
  'reason',
  'reasonCode',
  'refundToken',
  'refundableAmount',
  'refundedAmount',
  'status',
  'submissions',
]);

/** Evidence in which all but the last four characters are masked, unless the value is known to be harmless; yes and no are. */
export const toPublicEvidence = (evidence: Review['evidence']): PublicEvidence =>
  Object.fromEntries(
    Object.entries(evidence).flatMap(([name, value]) =>
      // An entry that is missing equals null.
      value === null ? [] : [[name, plainEvidence.has(name) ? String(value) : mask(value)]],
    ),
  );

function mask(value: string | number | boolean): string {
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value.length >= 12 ? `…${value.slice(-4)}` : '…';
}

export const evidence = shownBy(
  z
    .record(z.string(), z.string())
    .describe(
      'The evidence for the decision, as texts; amounts are in minor units. Tokens of the Payment Service are masked.',
    ),
  toPublicEvidence,
);

/** Values that the examples share. */
export const example = {
  instant: '2030-01-01T12:00:00.000Z',
  sendBy: '2030-01-01T12:00:05.000Z',
  paymentToken: 'pay_2ncgkq4v6t3b7yzx',
  sanitizedMask: '439296******1251',
  refusal: { code: 'insufficient_funds', kind: 'processing_error', message: 'Insufficient funds.' },
};
