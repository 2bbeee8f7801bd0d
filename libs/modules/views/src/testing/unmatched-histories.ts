import { evolveUnmatched, type UnmatchedEvent } from '@tollgate/books';
import { discrepancyOpened, historiesOf, planted, reviewAnswers } from './histories.ts';

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
  reviews: discrepancyOpened({
    kind: 'only_at_service',
    operation: 'payment',
    serviceToken: `service-${planted}-1`,
  }),
  ...reviewAnswers({ code: 'discrepancy', resolution: 'keep_ours' }),
} as const satisfies Record<string, UnmatchedEvent>;

export const anyUnmatchedHistory = historiesOf(
  unmatchedObserved(),
  Object.values<UnmatchedEvent>(unmatchedHappening),
  evolveUnmatched,
);
