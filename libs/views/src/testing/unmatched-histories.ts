import { evolveUnmatched, type UnmatchedEvent } from '@tollgate/payment-domain';
import { historiesOf, planted } from './histories.ts';

const unmatchedObserved = (
  changes: Partial<Extract<UnmatchedEvent, { type: 'UnmatchedObserved' }>['data']> = {},
): UnmatchedEvent => ({
  type: 'UnmatchedObserved',
  data: {
    ...{ environment: 'sandbox', account: `account-${planted}`, operation: 'payment', team: 'shop' },
    ...{ serviceToken: `service-${planted}-1`, status: 'approved', amount: 900, refundedAmount: 0 },
    ...{ currency: 'EUR', orderNumber: 'elsewhere-1', createdAt: Date.UTC(2026, 0, 1) },
    ...changes,
  },
});

const unmatchedHappening = {
  changed: unmatchedObserved({ status: 'refunded', refundedAmount: 900 }),
  reviews: { type: 'ReviewOpened', data: { code: 'only_at_service', evidence: { amount: 900 } } },
  resolutionProposed: {
    type: 'ReviewResolutionProposed',
    data: {
      ...{ code: 'only_at_service', number: 1, resolution: 'acknowledged', reason: 'by hand' },
      ...{ proposedBy: 'k1', proposedAt: Date.UTC(2026, 0, 2) },
    },
  },
  reviewResolved: {
    type: 'ReviewResolved',
    data: { code: 'only_at_service', number: 1, resolution: 'acknowledged', reason: 'the old system' },
  },
} as const satisfies Record<string, UnmatchedEvent>;

export const anyUnmatchedHistory = historiesOf(
  unmatchedObserved(),
  Object.values<UnmatchedEvent>(unmatchedHappening),
  evolveUnmatched,
);
