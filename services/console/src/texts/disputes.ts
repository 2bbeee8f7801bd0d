export const disputeTexts = {
  title: 'Disputes',
  views: { open: 'Open', unknown: 'Unknown status', all: 'All', won: 'Won', lost: 'Lost' },
  columns: {
    created: 'Opened',
    changed: 'Last change',
    state: 'State',
    amount: 'Amount',
    reason: 'Reason',
    team: 'Team',
    payment: 'Payment',
    id: 'Dispute',
  },
  states: { open: 'Open', won: 'Won', lost: 'Lost', unknown: 'Unknown' } as Readonly<Record<string, string>>,
  filters: { from: 'Opened from', to: 'Opened before', currency: 'Currency', paymentToken: 'Payment' },
  empty: 'No dispute here.',
  emptyHow: "A dispute appears when the Payment Service lists one. Answer it in the provider's console.",
} as const;
