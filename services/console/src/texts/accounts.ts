const listOf = (names: readonly string[]): string => names.join(', ') || 'none';

export const accountTexts = {
  title: 'Merchant accounts',
  intro:
    'How the accounts at the Payment Service fare, as the process that answers sees them. Their terms are in the accounts file.',
  columns: {
    account: 'Account',
    state: 'State',
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
  closed: (account: string, environment: string, state: string, by: string) =>
    `${account} (${environment}): ${state} by ${by},`,
  states: { active: 'Active', draining: 'Draining', paused: 'Paused' },
  fileFault: (why: string) =>
    `The accounts file could not be read again, and the accounts are as before. ${why}`,
  changes: {
    title: 'Changes',
    account: 'Account',
    reason: 'Why (others see it here)',
    notYours: (role: string) => `Operators and admins pause accounts; your role is ${role}.`,
    pause: {
      name: 'Pause',
      says: 'The account makes no payments, captures, voids, refunds or payouts. Callers get 503 and retry later. Calls under way, status inquiries and callbacks continue.',
      does: 'Pause the account',
      done: (account: string) => `${account} is paused.`,
    },
    drain: {
      name: 'Drain',
      says: 'The account accepts no new payments and payouts; other accounts take them. Captures, voids and refunds of existing payments continue.',
      does: 'Drain the account',
      done: (account: string) => `${account} is draining: it takes nothing new.`,
    },
    resume: {
      name: 'Resume',
      says: 'The account takes part again as before.',
      does: 'Resume the account',
      done: (account: string) => `${account} is active.`,
    },
    reload: {
      name: 'Read the accounts file again',
      says: 'Every process reads its accounts file again. Where it cannot be used, nothing changes.',
      does: 'Read it again',
      done: ({ added, changed, removed }: Record<'added' | 'changed' | 'removed', readonly string[]>) =>
        added.length + changed.length + removed.length === 0
          ? 'The file was read again: nothing has changed.'
          : `The file was read again. Added: ${listOf(added)}. Changed: ${listOf(changed)}. Removed: ${listOf(removed)}.`,
    },
  },
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
