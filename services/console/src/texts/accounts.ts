const listOf = (names: readonly string[]): string => names.join(', ') || 'none';

export const accountTexts = {
  title: 'Merchant accounts',
  intro: 'Accounts at the Payment Service, as this process sees them. Their terms are in the accounts file.',
  columns: {
    account: 'Account',
    state: 'State',
    circuit: 'Circuit',
    share: 'Share',
    serves: 'Serves',
    calls: 'Calls / s',
    concurrent: 'Under way',
    waiting: 'Waiting',
    inquiries: 'Inquiries / s',
    oldestDue: 'Inquiry due since',
  },
  share: (percent: string, priority: number) =>
    priority === 0 ? percent : `${percent} of priority ${priority}`,
  ofMost: (count: number, most: number) => `${count} of ${most}`,
  everybody: 'all teams',
  everyCurrency: 'all currencies',
  nothingDue: 'none',
  empty: 'No account is configured.',
  closed: (account: string, environment: string, state: string, by: string) =>
    `${account} (${environment}): ${state} by ${by},`,
  states: { active: 'Active', draining: 'Draining', paused: 'Paused' },
  fileFault: (why: string) => `The accounts file could not be read. The accounts are unchanged. ${why}`,
  changes: {
    title: 'Changes',
    account: 'Account',
    reason: 'Reason (shown here)',
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
      done: (account: string) => `${account} is draining. It accepts nothing new.`,
    },
    resume: {
      name: 'Resume',
      says: 'The account accepts payments and payouts again.',
      does: 'Resume the account',
      done: (account: string) => `${account} is active.`,
    },
    reload: {
      name: 'Reload the accounts file',
      says: 'Every process reads its accounts file again. An invalid file changes nothing.',
      does: 'Reload',
      done: ({ added, changed, removed }: Record<'added' | 'changed' | 'removed', readonly string[]>) =>
        added.length + changed.length + removed.length === 0
          ? 'Reloaded. Nothing changed.'
          : `Reloaded. Added: ${listOf(added)}. Changed: ${listOf(changed)}. Removed: ${listOf(removed)}.`,
    },
  },
  balance: {
    title: 'Balance',
    account: 'Account',
    currency: 'Currency',
    does: 'Ask the Payment Service',
    available: 'Available',
    hold: 'Reserved',
    of: 'Account',
  },
} as const;
