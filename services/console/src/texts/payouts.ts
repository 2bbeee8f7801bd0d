export const payoutTexts = {
  title: 'Payouts',
  views: {
    waiting: 'Awaiting approval',
    all: 'All',
    unresolved: 'Unresolved',
    pending: 'Pending',
    failed: 'Failed',
  },
  columns: {
    created: 'Created',
    state: 'State',
    amount: 'Amount',
    destination: 'To',
    order: 'Order number',
    team: 'Team',
    askedBy: 'Asked by',
    token: 'Token',
  },
  empty: 'No payout here.',
  emptyHow: 'A payout waits for an approval where it is above the sum that was set for its team.',
  destinations: {
    card: (mask: string) => `card •••• ${mask.slice(-4)}`,
    recurring: 'recurring token',
    bankAccount: (bank: string, ending: string) => `${bank} …${ending}`,
  },
  approval: 'Approval',
  askedBy: 'Asked by key',
  grantedBy: 'Approved by',
  lapses: 'Lapses',
  declined: 'Why declined',
  failed: 'Why failed',
  happened: 'What happened',
  approve: {
    name: 'Approve',
    says: (amount: string, to: string) =>
      `Releases ${amount} to ${to}. Nothing is sent by it: the team repeats its request within 24 hours, which sends it once.`,
    does: (amount: string) => `Approve ${amount}`,
    done: 'The payout is approved. The team repeats its request, which sends it.',
  },
  refuse: {
    name: 'Refuse',
    says: (amount: string) =>
      `Ends the payout of ${amount}. Its money is free again for others, and the team reads your reason.`,
    does: 'Refuse the payout',
    done: 'The payout is refused.',
    isThere:
      'The Payment Service has this payout already: it was sent by a store whose backup was restored since. Its state is below.',
    reason: 'Why, in your own words. It becomes part of the history.',
  },
  notYours: (role: string) => `Your role, ${role}, neither approves nor refuses payouts: that is an admin’s.`,
  own: 'You have asked for this payout, so somebody else approves or refuses it.',
} as const;
