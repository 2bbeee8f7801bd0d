export const securityLogTexts = {
  title: 'Security log',
  intro: 'Who was let in or not, who changed a team or a key, and what people asked for.',
  views: {
    all: 'All',
    operator: 'People',
    team: 'Teams and keys',
    access: 'Refused access',
    review: 'Decisions',
    export: 'Exports',
  },
  columns: { at: 'At', what: 'What', who: 'Who', team: 'Team', detail: 'Detail', number: 'No.' },
  types: {
    AccessRefused: 'Not let in',
    ExportMade: 'Payments left as a file',
    ReviewResolutionAsked: 'A decision was asked for',
    TeamChanged: 'A team was changed',
    TeamEventRejected: 'An event of a team counts for nothing',
    OperatorActed: 'A person asked for this',
  } as Readonly<Record<string, string>>,
  chained: (count: number) =>
    count === 1
      ? 'The entry on this page is as it was written.'
      : `The ${count} entries up to here are as they were written, one behind the other.`,
  broken: (at: number) => `Entry ${at} is not as it was written, or the one before it is missing.`,
  whole: 'The whole log is checked by',
  times: (count: number) => `${count} times`,
  from: (address: string) => `from ${address}`,
  empty: 'No entry on this page.',
  team: 'Team',
  any: 'any',
  apply: 'Show',
} as const;
