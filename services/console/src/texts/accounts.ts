export const accountTexts = {
  title: 'Merchant accounts',
  intro:
    'How the accounts at the Payment Service fare, as the process that answers sees them. What they may do is in the accounts file.',
  columns: {
    account: 'Account',
    circuit: 'Circuit',
    share: 'Share',
    serves: 'Serves',
    calls: 'Calls a second',
    concurrent: 'Under way',
    waiting: 'Waiting',
    inquiries: 'Inquiries a second',
    oldestDue: 'Oldest due inquiry',
  },
  share: (percent: string, priority: number) =>
    priority === 0 ? percent : `${percent} of priority ${priority}`,
  ofMost: (count: number, most: number) => `${count} of ${most}`,
  withInquiries: (most: number) => `${most} with inquiries`,
  everybody: 'all teams',
  everyCurrency: 'all currencies',
  nothingDue: 'none',
  empty: 'No account is configured.',
  balance: {
    title: 'Balance',
    account: 'Account',
    currency: 'Currency',
    does: 'Ask the Payment Service',
    available: 'Available',
    hold: 'Held',
    of: 'Account',
  },
} as const;
