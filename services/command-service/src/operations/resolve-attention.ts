/** A person's word about something that waits for one. */
import {
  type AttentionCode,
  type PaymentRefusal,
  type PayoutAttentionCode,
  type PayoutRefusal,
  type Resolution,
  attentionCodeSchema,
  payoutAttentionCodeSchema,
} from '@tollgate/payment-domain';
import { isOwnedBy, type Caller, toPublicPayment, toPublicPayout } from '@tollgate/read-models';
import type { Clock } from '@tollgate/service-kit';
import type { LookResult } from '../looks/look-result.ts';
import type { Payments } from '../streams/payments.ts';
import type { Payouts } from '../streams/payouts.ts';
import type { Cause } from '../streams/repository.ts';
import { lookBriefly } from './await-outcome.ts';
import { findOwn } from './own-payment.ts';

export interface ResolveAttentionDependencies {
  payments: Payments;
  payouts: Payouts;
  look: (token: string, cause: Cause) => Promise<LookResult>;
  clock: Clock;
}

export interface ResolveAttentionInput {
  caller: Caller;
  /** Of a payment or a payout. */
  token: string;
  code: AttentionCode | PayoutAttentionCode;
  /** Which of those with this code, as the list of attention shows it. */
  number: number;
  resolution: Resolution;
  reason: string;
  cause: Cause;
}

export type ResolveAttentionResult =
  | { kind: 'resolved'; position: string; shown: Record<string, unknown> }
  | { kind: 'refused'; refusal: PaymentRefusal | PayoutRefusal };

const notFound = { kind: 'refused', refusal: { code: 'attention_not_found' } } as const;

export function resolveAttention(
  deps: ResolveAttentionDependencies,
  input: ResolveAttentionInput,
): Promise<ResolveAttentionResult> {
  return input.token.startsWith('po_') ? ofPayout(deps, input) : ofPayment(deps, input);
}

async function ofPayment(
  { payments, look, clock }: ResolveAttentionDependencies,
  { caller, token, code, number, resolution, reason, cause }: ResolveAttentionInput,
): Promise<ResolveAttentionResult> {
  const found = await findOwn(payments, caller, token);
  if (found === undefined) return { kind: 'refused', refusal: { code: 'payment_not_found' } };
  const known = attentionCodeSchema.safeParse(code);
  if (!known.success) return notFound;
  const command = { type: 'ResolveAttention' as const, code: known.data, number, resolution, reason };
  const executed = await payments.execute(token, command, cause);
  if (executed.kind === 'refused') return executed;
  // Whatever was said: from here on only a look finds what the service does about it. The word stands without it.
  await lookBriefly({ look, clock }, { token, cause });
  const document = (await payments.load(token)) ?? found;
  return { kind: 'resolved', position: document.position, shown: { payment: toPublicPayment(document) } };
}

async function ofPayout(
  { payouts, look, clock }: ResolveAttentionDependencies,
  { caller, token, code, number, resolution, reason, cause }: ResolveAttentionInput,
): Promise<ResolveAttentionResult> {
  const found = await payouts.load(token);
  if (found === undefined || !isOwnedBy(found.payout, caller))
    return { kind: 'refused', refusal: { code: 'payout_not_found' } };
  const known = payoutAttentionCodeSchema.safeParse(code);
  if (!known.success) return notFound;
  const command = { type: 'ResolvePayoutAttention' as const, code: known.data, number, resolution, reason };
  const executed = await payouts.execute(token, command, cause);
  if (executed.kind === 'refused') return executed;
  // Whatever was said: from here on only a look finds what the service does about it. The word stands without it.
  await lookBriefly({ look, clock }, { token, cause });
  const document = (await payouts.load(token)) ?? found;
  return { kind: 'resolved', position: document.position, shown: { payout: toPublicPayout(document) } };
}
