/** What waits for a person, as a team sees it: what it is about, since when, why, and the ways out. */
import {
  payoutResolutionsOf,
  resolutionsOf,
  statusOfPayoutPhase,
  statusOfPhase,
  type Attention,
  type Resolution,
} from '@tollgate/payment-domain';
import { InvariantViolation, given } from '@tollgate/service-kit';
import type { AttentionEntry } from './index-attention.ts';
import { toIso, toPublicEvidence, type PublicAttention } from './public-values.ts';

export interface PublicAttentionEntry extends PublicAttention {
  /** Of the payment or payout. */
  token: string;
  kind: 'payment' | 'payout';
  /** What a person may answer. */
  resolutions: readonly Resolution[];
  orderNumber?: string;
  amount: number;
  currency: string;
  status: string;
  phase: string;
}

export function toPublicAttentionEntry(entry: AttentionEntry): PublicAttentionEntry {
  const { kind, document } = entry;
  const { terms, phase, status, attention, resolutions } = subjectOf(entry);
  const { orderNumber, amount, currency } = terms;
  return {
    token: document.token,
    kind,
    code: attention.code,
    number: attention.number,
    since: toIso(entry.since),
    evidence: toPublicEvidence(attention.evidence),
    resolutions,
    ...given({ orderNumber }),
    ...{ amount, currency, status, phase },
  };
}

function subjectOf(entry: AttentionEntry) {
  if (entry.kind === 'payment') {
    const { payment } = entry.document;
    const attention = at(payment.attention, entry);
    const resolutions = resolutionsOf(payment, attention.code);
    return { ...payment, status: statusOfPhase(payment.phase), attention, resolutions };
  }
  const { payout } = entry.document;
  const attention = at(payout.attention, entry);
  const resolutions = payoutResolutionsOf(payout, attention.code);
  return { ...payout, status: statusOfPayoutPhase(payout.phase), attention, resolutions };
}

function at<Code extends string>(
  attention: readonly Attention<Code>[],
  { place }: AttentionEntry,
): Attention<Code> {
  const found = attention[place];
  if (found === undefined) throw new InvariantViolation('an attention of the index is not in its document');
  return found;
}
