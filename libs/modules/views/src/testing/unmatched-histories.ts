import { historiesOf, planted } from './histories.ts';
import { evolveUnmatched, type UnmatchedEvent } from '@tollgate/books';

const unmatchedObserved = (
  changes: Partial<Extract<UnmatchedEvent, { type: 'UnmatchedObserved' }>['data']> = {},
): UnmatchedEvent => ({
  type: 'UnmatchedObserved',
  data: {
    environment: 'sandbox',
    account: `account-${planted}`,
    operation: 'payment',
    team: 'shop',
    serviceToken: `service-${planted}-1`,
    status: 'approved',
    amount: 900,
    refundedAmount: 0,
    currency: 'EUR',
    orderNumber: 'elsewhere-1',
    createdAt: Date.UTC(2026, 0, 1),
    ...changes,
  },
});

const unmatchedHappening = {
  changed: unmatchedObserved({ status: 'refunded', refundedAmount: 900 }),
  reviews: {
    type: 'ReviewOpened',
    data: {
      code: 'discrepancy',
      evidence: { kind: 'only_at_service', serviceToken: `service-${planted}-1` },
      discrepancy: {
        kind: 'only_at_service',
        operation: 'payment',
        serviceToken: `service-${planted}-1`,
        ours: null,
        theirs: null,
      },
    },
  },
  resolutionProposed: {
    type: 'ReviewResolutionProposed',
    data: {
      code: 'discrepancy',
      number: 1,
      resolution: 'keep_ours',
      reason: 'by hand',
      proposedBy: 'k1',
      proposedAt: Date.UTC(2026, 0, 2),
    },
  },
  reviewResolved: {
    type: 'ReviewResolved',
    data: { code: 'discrepancy', number: 1, resolution: 'keep_ours', reason: 'the old system' },
  },
} as const satisfies Record<string, UnmatchedEvent>;

export const anyUnmatchedHistory = historiesOf(
  unmatchedObserved(),
  Object.values<UnmatchedEvent>(unmatchedHappening),
  evolveUnmatched,
);
