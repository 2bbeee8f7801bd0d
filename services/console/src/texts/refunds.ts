export const refundTexts = {
  title: 'Refunds',
  views: { open: 'Under way', all: 'All', approved: 'Approved', declined: 'Declined' },
  columns: {
    created: 'Requested',
    changed: 'Last change',
    state: 'State',
    amount: 'Amount',
    why: 'Reason',
    team: 'Team',
    payment: 'Payment',
    token: 'Refund',
  },
  phases: {
    submitted: 'Sending',
    unresolved: 'Unresolved',
    accepted: 'Pending',
    approved: 'Approved',
    declined: 'Declined',
  } as Readonly<Record<string, string>>,
  filters: {
    from: 'Requested from',
    to: 'Requested before',
    currency: 'Currency',
    paymentToken: 'Payment',
  },
  empty: 'No refund here.',
  emptyHow:
    'No refund has this state and these filters. Refunds made at the Payment Service appear in their payment.',
} as const;
