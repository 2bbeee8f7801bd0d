/** Values that several kinds of public objects show. */
import type { ApiError } from '@tollgate/payment-api/values';
import type { Review } from '@tollgate/payment-domain';
import { given } from '@tollgate/service-kit';

export type PublicEvidence = Record<string, string | number | boolean | null>;

/** What waits for a person. */
export interface PublicReview {
  code: string;
  /** Tells it from others of its code; a person's answer names both. */
  number: number;
  /** ISO 8601 in UTC. */
  since: string;
  evidence: PublicEvidence;
}

export interface PublicError {
  code: string;
  kind: string;
  message?: string;
  parameter?: string;
}

export const toPublicReviews = (
  { reviewsSince, updatedAt }: { reviewsSince: readonly number[]; updatedAt: number },
  { reviews }: { reviews: readonly Review[] },
): PublicReview[] =>
  reviews.map(({ code, evidence, number }, place) => ({
    code,
    number,
    since: toIso(reviewsSince[place] ?? updatedAt),
    evidence: toPublicEvidence(evidence),
  }));

const plainEvidence: ReadonlySet<string> = new Set([
  ...['attemptNumber', 'amount', 'currency', 'providerOrderNumber', 'from', 'to'],
  ...['observedAmount', 'observedCurrency', 'observedStatus', 'observedHeldAmount', 'observedRefundedAmount'],
  ...['refundToken', 'refundedAmount', 'operation', 'submissions', 'reason'],
]);

/** Evidence with tokens of the service, and whatever we do not know to be harmless, masked but for the last four characters. */
export function toPublicEvidence(evidence: Review['evidence']): PublicEvidence {
  const entries = Object.entries(evidence).map(([name, value]) => [
    name,
    plainEvidence.has(name) ? value : mask(value),
  ]);
  return Object.fromEntries(entries) as PublicEvidence;
}

const mask = (value: string | number | boolean | null): string | null => {
  if (value === null) return null;
  return typeof value === 'string' && value.length >= 12 ? `…${value.slice(-4)}` : '…';
};

/** Errors of the service. Where it refused us and not the payment, its text is about our account and stays with us. */
export const toPublicErrors = (errors: readonly ApiError[]): PublicError[] =>
  errors.map(({ code, kind, message, parameter }) => ({
    code,
    kind,
    ...given({ message: isFaultOfAccount(kind) ? undefined : message, parameter }),
  }));

const isFaultOfAccount = (kind: string): boolean =>
  kind === 'authentication_error' || kind === 'settings_error';

/** Milliseconds since the Unix epoch as ISO 8601 in UTC. */
export const toIso = (instant: number): string => new Date(instant).toISOString();
