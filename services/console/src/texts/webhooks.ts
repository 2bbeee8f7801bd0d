export const webhookTexts = {
  title: 'Webhooks',
  intro: 'Those of all teams that were not delivered: to a callback address and to standing endpoints.',
  views: { failed: 'Failed', open: 'Tried again' },
  help: {
    failed: 'No further attempt follows by itself.',
    open: 'An attempt has failed; another one follows.',
  },
  columns: {
    created: 'Created',
    about: 'About',
    team: 'Team',
    url: 'To',
    tries: 'Tries',
    last: 'Last outcome',
  },
  empty: 'No webhook is here.',
  emptyHow: 'One is listed while its receiver does not accept it, and when all attempts are used up.',
  tries: 'Every try',
  states: {
    delivered: 'delivered',
    open: 'retrying',
    failed: 'failed',
  } as Readonly<Record<string, string>>,
  next: 'Next attempt',
  replay: 'Replay',
  replaysTo: (url: string) =>
    `Sends it to ${url} again, now. The receiver may know it already: its id is the same.`,
  replayed: 'It is sent again.',
  filters: { team: 'Team', environment: 'Environment', any: 'any', apply: 'Show' },
  all: {
    name: (count: number) => (count === 1 ? 'Replay the one that failed' : `Replay all ${count} that failed`),
    says: (count: number, whose: string) =>
      `Sends ${count} ${count === 1 ? 'webhook' : 'webhooks'} again${whose}, oldest first, at most 500 at a time. Receivers may get what they know already, with the same id.`,
    whose: (team: string) =>
      team === '' ? ' to the receivers of all teams' : ` to the receivers of ${team}`,
    does: (count: number) => `Send ${Math.min(count, 500)} again`,
    done: (count: number) => `${count} ${count === 1 ? 'webhook is' : 'webhooks are'} sent again.`,
    more: (count: number) => `${count} webhooks are sent again. There are more: send the rest the same way.`,
  },
} as const;
