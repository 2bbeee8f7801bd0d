export const webhookTexts = {
  title: 'Webhooks',
  intro: 'Undelivered webhooks of all teams.',
  views: { failed: 'Failed', open: 'Retrying' },
  help: {
    failed: 'All attempts failed. Nothing more is sent unless you resend it.',
    open: 'An attempt failed. The next one follows automatically.',
  },
  columns: {
    created: 'Created',
    about: 'About',
    team: 'Team',
    url: 'To',
    last: 'Last answer',
  },
  empty: 'No webhook here.',
  emptyHow: 'A webhook appears here while its receiver does not accept it.',
  tries: (count: number) => `${count} ${count === 1 ? 'attempt' : 'attempts'} with answers, and the body`,
  took: (duration: string) => `after ${duration}`,
  body: 'Body',
  states: {
    delivered: 'delivered',
    open: 'retrying',
    failed: 'failed',
    given_up: 'failed',
  } as Readonly<Record<string, string>>,
  next: 'Next attempt',
  replay: 'Resend',
  replaysTo: (url: string) => `Sends it to ${url} again, with the same id.`,
  replayed: 'Sent again. The outcome appears in a moment.',
  all: {
    name: (count: number) => `Resend all ${count}`,
    says: (count: number, whose: string) =>
      `Sends ${count} ${count === 1 ? 'webhook' : 'webhooks'} again${whose}, oldest first, at most 500 at a time. The ids stay the same, so that receivers recognize duplicates.`,
    whose: (team: string) =>
      team === '' ? ' to the receivers of all teams' : ` to the receivers of ${team}`,
    does: (count: number) => `Resend ${Math.min(count, 500)}`,
    done: (count: number) => `${count} ${count === 1 ? 'webhook is' : 'webhooks are'} sent again.`,
    more: (count: number) => `${count} webhooks are sent again. More are left: resend once more.`,
  },
} as const;
